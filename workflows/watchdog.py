"""The watchdog of a project: a schedule of its own has it look for runs that did not begin, and tells people of them."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import RetryPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

with workflow.unsafe.imports_passed_through():
    from activities.notices.contract import (
        LOOK_FOR_MISSED,
        MISSED_PREFIX,
        NOTICE_WORKFLOW,
        WATCHDOG_WORKFLOW,
        Notice,
        Post,
    )
    from activities.watchdog.contract import Look, Seen, WatchdogRequest, WatchState

if TYPE_CHECKING:
    from activities.watchdog.contract import Missed

ONE_LOOK, GIVEN_UP = timedelta(minutes=2), timedelta(minutes=10)


@workflow.defn(name=WATCHDOG_WORKFLOW, sandboxed=False)
class WatchdogWorkflow:
    """One look. Its result is what the next one goes on from: the server hands it over."""

    @workflow.run
    async def run(self, request: WatchdogRequest) -> WatchState:
        """Looks, and begins to tell; that goes on in workflows of its own."""
        state = workflow.get_last_completion_result(WatchState) if workflow.has_last_completion_result() else None
        seen: Seen = await workflow.execute_activity(
            LOOK_FOR_MISSED,
            Look(request, state or WatchState()),
            result_type=Seen,
            start_to_close_timeout=ONE_LOOK,
            schedule_to_close_timeout=GIVEN_UP,
            retry_policy=RetryPolicy(maximum_interval=timedelta(seconds=30)),
        )
        for missed in seen.missed:
            await _tell(request, missed)
        return seen.state


async def _tell(request: WatchdogRequest, missed: Missed) -> None:
    key = f"{MISSED_PREFIX}{missed.job}-{missed.scheduled_at}"
    job = next(job for job in request.jobs if job.job == missed.job)
    notice = Notice(
        event="missed",
        project=request.project,
        environment=request.environment,
        job=missed.job,
        timezone=job.times.timezone,
        scheduled_at=missed.scheduled_at,
        reason=missed.reason,
        contact=job.contact,
        runbook=job.runbook,
    )
    with suppress(WorkflowAlreadyStartedError):
        await workflow.start_child_workflow(
            NOTICE_WORKFLOW,
            Post(notice, [request.targets[place] for place in job.targets], key),
            id=key,
            parent_close_policy=workflow.ParentClosePolicy.ABANDON,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            static_summary=f"{missed.job} did not run",
        )
