"""Pauses that end by themselves: when, and why one did not."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.api.enums.v1 import WorkflowExecutionStatus

from activities.contract import RESUME_PREFIX
from activities.note import paused_until
from schedules.ledger.state import PauseEnd
from schedules.server.workers import Workers

if TYPE_CHECKING:
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records

USUAL = timedelta(seconds=5)
"""A worker takes a moment."""


async def pause_end(records: Records, job: Job, now: datetime) -> PauseEnd | None:
    """None for a job that is not paused, or not until a time. Asks the server only about one that is past. Raises ServerError."""
    until = paused_until(job.note) if job.paused else None
    if until is None:
        return None
    return PauseEnd(until, "" if until + USUAL > now else await _fault(records, job))


async def _fault(records: Records, job: Job) -> str:
    name = RESUME_PREFIX + job.name
    timer = await records.described(name)
    if timer is None:
        return f"its timer, workflow {name}, is gone"
    info = timer.workflow_execution_info
    if info.status != WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING:
        ended = WorkflowExecutionStatus.Name(info.status).removeprefix("WORKFLOW_EXECUTION_STATUS_").lower()
        return f"its timer, workflow {name}, ended without resuming the job ({ended})"
    if not await Workers(records.client).polls(info.task_queue):
        return f"no worker polls task queue `{info.task_queue}`"
    return f"workers poll task queue `{info.task_queue}`, but none has resumed the job; see workflow {name}"
