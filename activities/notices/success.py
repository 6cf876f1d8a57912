"""Whether a job has succeeded since a moment: what nobody told its incident, it reads from the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.contract import JOB_WORKFLOW, JobResult
from activities.notices.contract import Success

if TYPE_CHECKING:
    from datetime import datetime

    from temporalio.client import Client, WorkflowExecution

LOOKED_AT = 50
"""Runs that have completed since, at most: most of them have succeeded, the others ended as late ones."""


async def success_since(client: Client, job: str, since: datetime) -> Success | None:
    """The oldest that is found of the runs by the job's schedule which have succeeded since; raises RPCError.

    Those that were started by hand tell the incident themselves.
    """
    query = (
        f"WorkflowType = '{JOB_WORKFLOW}' AND TemporalScheduledById = '{job}'"
        f" AND ExecutionStatus = 'Completed' AND CloseTime > '{since.isoformat()}'"
    )
    found = [run async for run in client.list_workflows(query, limit=LOOKED_AT)]
    for run in sorted(found, key=lambda run: run.close_time or since):
        if (success := await _success(client, run)) is not None:
            return success
    return None


async def _success(client: Client, run: WorkflowExecution) -> Success | None:
    handle = client.get_workflow_handle(run.id, run_id=run.run_id, result_type=JobResult)
    result = await handle.result(follow_runs=False)
    if result.outcome != "succeeded" or run.close_time is None:
        return None
    return Success(
        scheduled_at=result.scheduled_at,
        workflow_id=run.id,
        run_id=run.run_id,
        ended_at=run.close_time.isoformat(),
        attempts=result.attempts,
        duration=result.duration,
    )
