"""How a run ended: the JobResult that its last event carries. Shared with the worker's feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio.converter import value_to_type
from temporalio.exceptions import ApplicationError

from activities.contract import JobResult

if TYPE_CHECKING:
    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.converter import DataConverter


async def job_result(event: HistoryEvent, converter: DataConverter) -> JobResult | None:
    """The JobResult that a run's last event carries, as its result or as the first detail of its failure; None without."""
    if event.HasField("workflow_execution_completed_event_attributes"):
        payloads = event.workflow_execution_completed_event_attributes.result.payloads
        return next(iter(await converter.decode(payloads, [JobResult])), None)
    if event.HasField("workflow_execution_failed_event_attributes"):
        error = await converter.decode_failure(event.workflow_execution_failed_event_attributes.failure)
        if isinstance(error, ApplicationError) and error.details and isinstance(error.details[0], dict):
            result: JobResult = value_to_type(JobResult, error.details[0])
            return result
    return None
