"""The timeline of a schedule from the histories of the server's scheduler, built here as the server writes them."""

from __future__ import annotations

from datetime import datetime, timedelta

from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.history.v1 import (
    HistoryEvent,
    WorkflowExecutionSignaledEventAttributes,
    WorkflowExecutionStartedEventAttributes,
    WorkflowTaskCompletedEventAttributes,
)
from temporalio.api.schedule.v1 import (
    BackfillRequest,
    Schedule,
    SchedulePatch,
    ScheduleState,
    TriggerImmediatelyRequest,
)

from schedules.ledger.scheduler import part_of, timeline_of
from schedules.model import Interval, Times
from schedules.server.translate_times import to_spec
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON

HOURLY, DAILY = (Times("UTC", intervals=(Interval(every),)) for every in (3600, 86_400))

LONG = "nightly freeze " * 20


def event(at: datetime) -> HistoryEvent:
    made = HistoryEvent()
    made.event_time.FromDatetime(at)
    return made


def in_field_1(message: bytes) -> bytes:
    """As the server's own messages hold a schedule: tag, length, bytes; then fields that no API knows."""
    low, high = len(message) & 0x7F, len(message) >> 7
    length = bytes([low | 0x80, high]) if high else bytes([low])
    return b"\x0a" + length + message + b"\x10\x01\x42\x03abc"


def payloads(data: bytes) -> Payloads:
    return Payloads(payloads=[Payload(metadata={"encoding": b"binary/protobuf"}, data=data)])


def schedule(times: Times, note: str = "", *, paused: bool = False) -> bytes:
    made = Schedule(spec=to_spec(times), state=ScheduleState(notes=note, paused=paused))
    return in_field_1(made.SerializeToString())


def started(at: datetime, data: bytes, continued: str = "") -> HistoryEvent:
    made = event(at)
    given = WorkflowExecutionStartedEventAttributes(input=payloads(data), continued_execution_run_id=continued)
    made.workflow_execution_started_event_attributes.CopyFrom(given)
    return made


def signal(at: datetime, name: str, data: bytes) -> HistoryEvent:
    made = event(at)
    given = WorkflowExecutionSignaledEventAttributes(signal_name=name, input=payloads(data), identity="ann@host")
    made.workflow_execution_signaled_event_attributes.CopyFrom(given)
    return made


def look(at: datetime) -> HistoryEvent:
    made = event(at)
    made.workflow_task_completed_event_attributes.CopyFrom(WorkflowTaskCompletedEventAttributes())
    return made


def test_pauses_changes_triggers_and_backfills_are_told_with_who_and_when() -> None:
    backfill = BackfillRequest()
    backfill.start_time.FromDatetime(NOON - 60 * MINUTE)
    backfill.end_time.FromDatetime(NOON)
    part = [
        started(NOON, schedule(HOURLY)),
        look(NOON + MINUTE),
        signal(NOON + 2 * MINUTE, "patch", SchedulePatch(pause="deploy").SerializeToString()),
        signal(NOON + 3 * MINUTE, "update", schedule(DAILY, "by sync", paused=True)),
        signal(NOON + 4 * MINUTE, "patch", SchedulePatch(unpause="done").SerializeToString()),
        signal(
            NOON + 5 * MINUTE,
            "patch",
            SchedulePatch(trigger_immediately=TriggerImmediatelyRequest()).SerializeToString(),
        ),
        signal(NOON + 6 * MINUTE, "patch", SchedulePatch(backfill_request=[backfill]).SerializeToString()),
        signal(NOON + 7 * MINUTE, "refresh", b""),
    ]
    found = timeline_of([part_of(part)])
    assert found
    assert [(each.kind, (each.at - NOON) // MINUTE, each.note, each.by) for each in found.events] == [
        ("created", 0, "", ""),
        ("paused", 2, "deploy", "ann@host"),
        ("updated", 3, "by sync", "ann@host"),
        ("unpaused", 4, "done", "ann@host"),
        ("triggered", 5, "", "ann@host"),
        ("backfilled", 6, "", "ann@host"),
    ]
    pause = found.pause_at(NOON + 3 * MINUTE + timedelta(seconds=30))
    assert pause is found.events[1]
    assert found.pause_at(NOON + 4 * MINUTE) is None
    assert found.times_at(NOON + 2 * MINUTE) == HOURLY
    assert found.times_at(NOON + 3 * MINUTE) == DAILY
    assert found.asked_for(NOON + 5 * MINUTE) is found.events[4]
    assert found.asked_for(NOON - 30 * MINUTE) is found.events[5]
    assert found.wakes == (NOON + MINUTE,)


def test_a_scheduler_that_began_anew_is_told_as_one() -> None:
    first = [started(NOON, schedule(HOURLY, LONG, paused=True), "an earlier run"), look(NOON + MINUTE)]
    second = [started(NOON + 2 * MINUTE, schedule(HOURLY), "the first"), look(NOON + 3 * MINUTE)]
    found = timeline_of([part_of(first), part_of(second)])
    assert found
    assert [(each.kind, each.note) for each in found.events] == [("known", LONG)]
    assert found.knows(NOON)
    assert not found.knows(NOON - MINUTE)
    assert (found.wake_before(NOON + 2 * MINUTE), found.wake_from(NOON + 2 * MINUTE)) == (
        NOON + MINUTE,
        NOON + 3 * MINUTE,
    )


def test_a_server_that_keeps_schedules_otherwise_gives_none() -> None:
    assert timeline_of([]) is None
    assert timeline_of([part_of([started(NOON, b"\x12\x03abc"), look(NOON)])]) is None
    assert timeline_of([part_of([started(NOON, b"\x0a\xff")])]) is None
