"""What stands in for a workflow type that a job asks for and its worker does not know."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

UNKNOWN_TYPE = "unknown_workflow_type"


@workflow.defn(dynamic=True)
class UnknownWorkflow:
    """Fails a step's child at once; the SDK would let its first task fail again and again until the step's timeout.

    Workflows that are not a job's are left to that: another worker may know them.
    """

    @workflow.run
    async def run(self, _arguments: Sequence[RawValue]) -> None:
        """Fails. Raises ApplicationError for the child of a run, else RuntimeError, which only the task fails with."""
        info = workflow.info()
        message = f"no workflow type `{info.workflow_type}` on this worker; is its module in TICKWRIGHT_MODULES?"
        if info.parent is not None and info.workflow_id.startswith(f"{info.parent.workflow_id}/"):
            raise ApplicationError(message, type=UNKNOWN_TYPE, non_retryable=True)
        raise RuntimeError(message)
