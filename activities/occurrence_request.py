"""Asks a schedule for one of its times, and never again without knowing that it did not take the request before."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import ScheduleOverlapPolicy
from temporalio.api.schedule.v1 import SchedulePatch
from temporalio.api.workflowservice.v1 import (
    DescribeScheduleRequest,
    GetWorkflowExecutionHistoryReverseRequest,
    ListScheduleMatchingTimesRequest,
    PatchScheduleRequest,
)
from temporalio.exceptions import ApplicationError

from activities.conflict_token import is_v2, versions
from activities.contract import NO_SUCH_TIME, UNCERTAIN
from activities.late.decision import instant

if TYPE_CHECKING:
    from datetime import datetime

    from temporalio.api.history.v1 import WorkflowExecutionSignaledEventAttributes
    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse
    from temporalio.client import Client

    from activities.contract import OccurrenceAsk

RPC_TIMEOUT = timedelta(seconds=5)
SECOND = timedelta(seconds=1)
SETTLES = 2.0
"""Seconds within which a server that answers has done, or dropped, a request that it did not answer."""
MOST_REQUESTS = 3
SCHEDULER = "temporal-sys-scheduler:"
EVENTS = 500


class OccurrenceRequest:
    """A BackfillRequest over exactly one time: on both of Temporal's schedulers the run has that time's id.

    (The V2 scheduler ignores the time of a TriggerImmediatelyRequest.)
    """

    def __init__(self, client: Client, ask: OccurrenceAsk) -> None:
        self._client, self._ask = client, ask
        self._service = client.workflow_service

    async def send(self, attempt: int) -> None:
        """Once. `attempt` counts from 1. Raises ApplicationError UNCERTAIN or NO_SUCH_TIME, and RPCError."""
        described = await self._describe()
        end = await self._end(described)
        if (attempt > 1 or self._ask.number) and not await self._was_not_taken(attempt):
            return
        allow, wait = (
            ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
            ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL,
        )
        request = PatchScheduleRequest(
            namespace=self._client.namespace,
            schedule_id=self._ask.schedule,
            identity=self._ask.by,
            request_id=self._ask.request_id,
        )
        span = request.patch.backfill_request.add(overlap_policy=allow if self._ask.side_by_side else wait)
        span.start_time.FromDatetime(instant(self._ask.scheduled_at))
        span.end_time.CopyFrom(end)
        await self._service.patch_schedule(request, timeout=RPC_TIMEOUT)

    async def _describe(self) -> DescribeScheduleResponse:
        request = DescribeScheduleRequest(namespace=self._client.namespace, schedule_id=self._ask.schedule)
        return await self._service.describe_schedule(request, timeout=RPC_TIMEOUT)

    async def _end(self, described: DescribeScheduleResponse) -> Timestamp:
        """The time with its jitter, up to which the schedule has no other. Raises ApplicationError NO_SUCH_TIME."""
        at, jitter = instant(self._ask.scheduled_at), described.schedule.spec.jitter.ToTimedelta()
        request = ListScheduleMatchingTimesRequest(namespace=self._client.namespace, schedule_id=self._ask.schedule)
        request.start_time.FromDatetime(at - SECOND)
        request.end_time.FromDatetime(at + jitter + SECOND)
        answer = await self._service.list_schedule_matching_times(request, timeout=RPC_TIMEOUT)
        exact = _timestamp(at)
        later = sorted((each for each in answer.start_time if _order(each) >= _order(exact)), key=_order)
        if not later or (not jitter and later[0] != exact):
            raise ApplicationError(
                f"{self._ask.scheduled_at} is no longer a time of the schedule", type=NO_SUCH_TIME, non_retryable=True
            )
        return later[0]

    async def _was_not_taken(self, attempt: int) -> bool:
        """Whether the server has certainly not taken, or ended without a run, the request before this one.

        False for one that it did not answer and may have taken: its run is waited for. Raises ApplicationError UNCERTAIN for one
        that was waited for in vain.
        """
        number = self._ask.number
        if number >= MOST_REQUESTS:
            raise _uncertain(f"it was requested {number} times")
        await asyncio.sleep(SETTLES)
        now, before = await self._describe(), bytes.fromhex(self._ask.version)
        token = now.conflict_token
        if attempt > 1:
            return not is_v2(token) or token == before  # V1 takes a request id only once
        if now.info.buffer_size:
            return False
        if not is_v2(token) and await self._was_handled():
            return True  # and the schedule has neither a run nor a start that waits
        if is_v2(token) and versions(token) == versions(before):
            return True  # V2 took none; nor did V1, if it was on V1 then, since what it had taken would wait or run
        raise _uncertain("it is not known whether the server took the request")

    async def _was_handled(self) -> bool:
        """Whether a V1 scheduler has completed a workflow task that began after the newest request for this time."""
        request = GetWorkflowExecutionHistoryReverseRequest(
            namespace=self._client.namespace,
            execution=WorkflowExecution(workflow_id=SCHEDULER + self._ask.schedule),
            maximum_page_size=EVENTS,
        )
        answer = await self._service.get_workflow_execution_history_reverse(request, timeout=RPC_TIMEOUT)
        handled = 0
        for event in answer.history.events:
            if event.HasField("workflow_task_completed_event_attributes"):
                handled = max(handled, event.workflow_task_completed_event_attributes.started_event_id)
            if event.HasField("workflow_execution_signaled_event_attributes") and self._is_ours(
                event.workflow_execution_signaled_event_attributes
            ):
                return event.event_id < handled
        return False

    def _is_ours(self, signal: WorkflowExecutionSignaledEventAttributes) -> bool:
        if signal.signal_name != "patch" or signal.identity != self._ask.by or not signal.input.payloads:
            return False
        patch, at = SchedulePatch.FromString(signal.input.payloads[0].data), _timestamp(instant(self._ask.scheduled_at))
        return any(each.start_time == at for each in patch.backfill_request)


def _uncertain(why: str) -> ApplicationError:
    message = f"requested, but no run has started; {why}. It is not requested again: look at `tickwright runs` first"
    return ApplicationError(message, type=UNCERTAIN, non_retryable=True)


def _timestamp(at: datetime) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(at)
    return message


def _order(at: Timestamp) -> tuple[int, int]:
    return at.seconds, at.nanos
