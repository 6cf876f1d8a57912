"""Which signals to a schedule's workflow ask for a run: they are the server's own messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.history.v1 import WorkflowExecutionSignaledEventAttributes
from temporalio.api.schedule.v1 import BackfillRequest, SchedulePatch, TriggerImmediatelyRequest

from activities.late.scheduler_history import asks_for

AT = datetime(2027, 3, 1, 8, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def stamp(at: datetime) -> Timestamp:
    found = Timestamp()
    found.FromDatetime(at)
    return found


def backfill(first: datetime, last: datetime) -> SchedulePatch:
    return SchedulePatch(backfill_request=[BackfillRequest(start_time=stamp(first), end_time=stamp(last))])


def trigger(at: datetime | None = None) -> SchedulePatch:
    return SchedulePatch(trigger_immediately=TriggerImmediatelyRequest(scheduled_time=stamp(at) if at else None))


@pytest.mark.parametrize(
    ("patch", "asked"),
    [
        (backfill(AT - SECOND, AT), True),
        (backfill(AT, AT + SECOND), True),
        (backfill(AT + SECOND, AT + 2 * SECOND), False),
        (backfill(AT - 2 * SECOND, AT - SECOND), False),
        (trigger(AT + 0.4 * SECOND), True),
        (trigger(AT - SECOND), False),
        (trigger(AT + SECOND), False),
        (trigger(), True),
        (SchedulePatch(pause="AT"), False),
    ],
)
def test_a_trigger_asks_for_its_moment_and_a_backfill_for_its_span(patch: SchedulePatch, asked: bool) -> None:
    given = Payloads(payloads=[Payload(data=patch.SerializeToString())])
    signal = WorkflowExecutionSignaledEventAttributes(signal_name="patch", input=given)
    assert asks_for(AT, signal, AT + 0.4 * SECOND) == asked
