"""The end of a run: the JobResult in its last event. Shared with the worker's feed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from temporalio.converter import value_to_type
from temporalio.exceptions import ApplicationError, FailureError

from activities.contract import JobResult
from schedules.errors import UndecodableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.api.common.v1 import Payload
    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.converter import DataConverter


async def job_result(event: HistoryEvent, converter: DataConverter) -> JobResult | None:
    """The JobResult that a run's last event carries, as its result or as the first detail of its failure; None without.

    Workflows that a schedule starts directly return, and fail with, what they like. Raises UndecodableError.
    """
    if event.HasField("workflow_execution_completed_event_attributes"):
        payloads = event.workflow_execution_completed_event_attributes.result.payloads
        return _result((await _plain(payloads, converter)) or [None])
    if event.HasField("workflow_execution_failed_event_attributes"):
        error = await converter.decode_failure(event.workflow_execution_failed_event_attributes.failure)
        if isinstance(error, ApplicationError):
            return _result([*error.details, None])
    return None


async def failure_message(event: HistoryEvent, converter: DataConverter) -> str:
    """The message of the failure, or the reason of the termination, in a run's last event; empty without. Raises UndecodableError."""
    if event.HasField("workflow_execution_terminated_event_attributes"):
        return event.workflow_execution_terminated_event_attributes.reason
    if not event.HasField("workflow_execution_failed_event_attributes"):
        return ""
    error = await converter.decode_failure(event.workflow_execution_failed_event_attributes.failure)
    return error.message if isinstance(error, FailureError) else str(error)


async def _plain(payloads: Sequence[Payload], converter: DataConverter) -> list[Any]:
    try:
        return await converter.decode(payloads)
    except UndecodableError:
        raise
    except Exception:  # noqa: BLE001  a converter of the user's, whose values nobody here knows
        return []


def _result(values: Sequence[Any]) -> JobResult | None:
    if not isinstance(values[0], dict):
        return None
    try:
        result: JobResult = value_to_type(JobResult, values[0])
    except Exception:  # noqa: BLE001  what another workflow than JobWorkflow says is none
        return None
    return result
