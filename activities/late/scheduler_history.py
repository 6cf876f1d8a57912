"""What the server's scheduler of a schedule did and was told, newest first, as far as its history shows.

On servers up to 1.32 at least a schedule is a workflow `temporal-sys-scheduler:<id>`. Its history begins anew now and then; the
earlier parts are kept for the retention of the namespace.
"""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import WorkflowExecution as ExecutionId
from temporalio.api.enums.v1 import EventType
from temporalio.api.schedule.v1 import SchedulePatch
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.service import RPCError

from activities.late.decision import SECOND, instant

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from google.protobuf.timestamp_pb2 import Timestamp
    from temporalio.api.history.v1 import HistoryEvent, WorkflowExecutionSignaledEventAttributes
    from temporalio.client import Client

    from activities.contract import LateStart

SCHEDULER = "temporal-sys-scheduler:"
RPC_TIMEOUT = timedelta(seconds=5)
PAGE, FEW_PAGES, MOST_PAGES = 250, 8, 80
"""An occurrence that waits for others makes some eight events; a schedule keeps a thousand waiting at most."""
TRIGGER_DELAY = timedelta(seconds=2)
"""So much later than it was asked for may be the moment that a trigger stands for, where it does not say so itself."""


class SchedulerHistory:
    """Reads for one late start. No method raises: None is for what the server does not show."""

    def __init__(self, client: Client, late: LateStart) -> None:
        self._client = client
        self._schedule = late.schedule
        self._scheduled = instant(late.scheduled_at)

    async def woke_up(self) -> datetime | None:
        """When the schedule first did anything at or after the run's time: at once, unless the server was away."""
        found = None
        try:
            async for event in self._events(FEW_PAGES):
                at = _time(event.event_time)
                if at < self._scheduled:
                    return found
                found = at
        except RPCError:  # no such workflow, or no right to see it
            pass
        return None

    async def was_asked_for(self) -> bool | None:
        """Whether somebody asked for the run's time, by a trigger or a backfill that was sent after it."""
        try:
            async for event in self._events(MOST_PAGES):
                if _time(event.event_time) < self._scheduled - TRIGGER_DELAY:
                    return False
                if event.HasField("workflow_execution_signaled_event_attributes"):
                    signal = event.workflow_execution_signaled_event_attributes
                    if asks_for(self._scheduled, signal, _time(event.event_time)):
                        return True
                if _is_first(event):
                    return False
        except (RPCError, DecodeError):
            pass
        return None

    async def _events(self, pages: int) -> AsyncIterator[HistoryEvent]:
        """Newest first, of the earlier parts as well, until the pages are used up. Raises RPCError.

        The start of an activity is left out: it is written down at the activity's end, and carries the time of its beginning.
        """
        request = GetWorkflowExecutionHistoryReverseRequest(
            namespace=self._client.namespace,
            execution=ExecutionId(workflow_id=SCHEDULER + self._schedule),
            maximum_page_size=PAGE,
        )
        for _ in range(pages):
            page = await self._client.workflow_service.get_workflow_execution_history_reverse(
                request, timeout=RPC_TIMEOUT
            )
            for event in page.history.events:
                if event.event_type != EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
                    yield event
            if not page.next_page_token:
                if _is_first(event):
                    return
                request.execution.run_id = event.workflow_execution_started_event_attributes.continued_execution_run_id
            request.next_page_token = page.next_page_token


def asks_for(scheduled: datetime, signal: WorkflowExecutionSignaledEventAttributes, sent: datetime) -> bool:
    """Whether a signal, sent to a schedule at `sent`, is a backfill of or a trigger at the scheduled time."""
    if signal.signal_name != "patch" or not signal.input.payloads:
        return False
    patch = SchedulePatch.FromString(signal.input.payloads[0].data)
    spans = [(_time(each.start_time), _time(each.end_time)) for each in patch.backfill_request]
    if patch.HasField("trigger_immediately"):
        trigger = patch.trigger_immediately
        exact = trigger.HasField("scheduled_time")
        spans.append((_time(trigger.scheduled_time),) * 2 if exact else (sent, sent + TRIGGER_DELAY))
    return any(first - SECOND < scheduled <= last for first, last in spans)


def _is_first(event: HistoryEvent) -> bool:
    """Whether nothing of the schedule was before it."""
    started = event.HasField("workflow_execution_started_event_attributes")
    return started and not event.workflow_execution_started_event_attributes.continued_execution_run_id


def _time(message: Timestamp) -> datetime:
    return message.ToDatetime(tzinfo=UTC)
