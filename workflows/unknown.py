"""The stand-in for a workflow type that a job asks for and its worker does not know."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.contract import GIVE_BACK_SECONDS, OFFERED_ELSEWHERE

UNKNOWN_TYPE = "unknown_workflow_type"


@workflow.defn(dynamic=True, sandboxed=False)
class UnknownWorkflow:
    """Fails a step's child, unless another worker of the task queue knows the type; then only its task fails.

    A task that fails goes back to the queue, again and again until another worker takes it. Workflows that are not a job's
    are left to that in any case.
    """

    @workflow.run
    async def run(self, _arguments: Sequence[RawValue]) -> None:
        """Raises ApplicationError for the child of a run that no worker knows, else RuntimeError, which only the task fails with."""
        info = workflow.info()
        message = f"no workflow type `{info.workflow_type}` on this worker; is its module in TICKWRIGHT_MODULES?"
        of_a_run = info.parent is not None and info.workflow_id.startswith(f"{info.parent.workflow_id}/")
        if of_a_run and not await _may_go_elsewhere():
            raise ApplicationError(message, type=UNKNOWN_TYPE, non_retryable=True)
        raise RuntimeError(message)


async def _may_go_elsewhere() -> bool:
    """By a local activity, whose answer is lost with the task."""
    info = workflow.info()
    if workflow.now() - info.workflow_start_time > timedelta(seconds=GIVE_BACK_SECONDS):
        return False
    try:
        found: bool = await workflow.execute_local_activity(
            OFFERED_ELSEWHERE,
            info.workflow_type,
            result_type=bool,
            start_to_close_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
    except ActivityError:
        return True
    return found
