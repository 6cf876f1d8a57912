"""The record of a schedule from what the server keeps of it, built here as the server writes it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
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
from temporalio.api.workflowservice.v1 import DescribeScheduleResponse

from activities.account.history import SCHEDULER_TYPE, part_of, record_of
from activities.account.record import SchedulerRecord
from activities.note import MOVING
from schedules.ledger.translate import times_at
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
    given.workflow_type.name = SCHEDULER_TYPE
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


def record_from(*histories: list[HistoryEvent]) -> SchedulerRecord:
    return record_of([part for each in histories if (part := part_of(each))])


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
    found = record_from(part)
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
    assert times_at(found, NOON + 2 * MINUTE) == HOURLY
    assert times_at(found, NOON + 3 * MINUTE) == DAILY
    assert found.asked_for(NOON + 5 * MINUTE) is found.events[4]
    assert found.asked_for(NOON - 30 * MINUTE) is found.events[5]
    assert found.wakes == (NOON + MINUTE,)


def test_a_scheduler_that_began_anew_is_told_as_one() -> None:
    first = [started(NOON, schedule(HOURLY, LONG, paused=True), "an earlier run"), look(NOON + MINUTE)]
    second = [started(NOON + 2 * MINUTE, schedule(HOURLY), "the first"), look(NOON + 3 * MINUTE)]
    found = record_from(first, second)
    assert [(each.kind, each.note) for each in found.events] == [("known", LONG)]
    assert found.knows(NOON)
    assert not found.knows(NOON - MINUTE)
    assert (found.wake_before(NOON + 2 * MINUTE), found.wake_from(NOON + 2 * MINUTE)) == (
        NOON + MINUTE,
        NOON + 3 * MINUTE,
    )


def placeholder(at: datetime) -> HistoryEvent:
    made = started(at, b"")
    made.workflow_execution_started_event_attributes.workflow_type.name = "temporal-sys-dummy-workflow"
    return made


def test_a_placeholder_is_no_scheduler_and_a_message_of_another_kind_says_nothing() -> None:
    assert part_of([placeholder(NOON), look(NOON)]) is None
    assert part_of([]) is None
    for data in (b"\x12\x03abc", b"\x0a\xff"):
        assert record_from([started(NOON, data), look(NOON)]).events == ()


def described(created: datetime, written: datetime | None = None, *, paused: bool = False) -> DescribeScheduleResponse:
    found = DescribeScheduleResponse()
    found.info.create_time.FromDatetime(created)
    if written:
        found.info.update_time.FromDatetime(written)
    found.schedule.CopyFrom(Schedule(spec=to_spec(HOURLY), state=ScheduleState(notes="by ann", paused=paused)))
    return found


def test_of_a_v2_schedule_all_is_known_since_the_last_write_and_nothing_before() -> None:
    found = record_of([], described=described(NOON, NOON + 2 * MINUTE, paused=True))
    assert [found.knows(NOON + number * MINUTE) for number in (1, 2, 3)] == [False, True, True]
    assert found.pause_at(NOON + MINUTE) is None
    pause = found.pause_at(NOON + 3 * MINUTE)
    assert pause
    assert (pause.kind, pause.note) == ("known", "by ann")
    assert not found.may_be_asked_for(NOON + 3 * MINUTE)
    assert not found.has_signs(NOON + 3 * MINUTE)
    new = record_of([], described=described(NOON))
    assert [event.kind for event in new.events] == ["created"]


def test_while_temporal_moves_a_schedule_nobody_has_paused_it() -> None:
    moving = described(NOON, paused=True)
    moving.schedule.state.notes = MOVING
    moved = record_from([started(NOON, schedule(HOURLY, MOVING, paused=True))])
    patched = record_from(
        [
            started(NOON, schedule(HOURLY)),
            signal(NOON + MINUTE, "patch", SchedulePatch(pause=MOVING).SerializeToString()),
        ]
    )
    for record in (record_of([], described=moving), moved, patched):
        assert record.pause_at(NOON + 2 * MINUTE) is None


def test_the_old_history_of_a_schedule_that_moved_counts_up_to_its_end_and_no_further() -> None:
    part = part_of([started(NOON, schedule(HOURLY)), look(NOON + MINUTE)])
    assert part
    moved, written = NOON + 2 * MINUTE, NOON + 4 * MINUTE
    found = record_of([part], moved, described(NOON, written))
    asked = [NOON + number * MINUTE for number in (1, 3, 5)]
    assert [found.knows(at) for at in asked] == [True, False, True]
    assert [found.has_signs(at) for at in asked] == [True, False, False]
    untouched = record_of([part], moved, described(NOON, NOON + MINUTE))
    assert all(untouched.knows(at) for at in asked)
    assert not untouched.has_signs(asked[1])


@pytest.mark.parametrize(
    ("patch", "asked"),
    [
        ((-1, 0), True),
        ((0, 1), True),
        ((1, 2), False),
        ((-2, -1), False),
        (0.4, True),
        (-1.0, False),
        (1.0, False),
        (None, True),
    ],
)
def test_a_trigger_asks_for_its_moment_and_a_backfill_for_its_span(
    patch: tuple[float, float] | float | None, asked: bool
) -> None:
    """Seconds after noon; a trigger that names no time stands for the moment at which the scheduler hears of it."""
    made = SchedulePatch()
    if isinstance(patch, tuple):
        span = BackfillRequest()
        span.start_time.FromDatetime(NOON + timedelta(seconds=patch[0]))
        span.end_time.FromDatetime(NOON + timedelta(seconds=patch[1]))
        made.backfill_request.append(span)
    else:
        made.trigger_immediately.SetInParent()
        if patch is not None:
            made.trigger_immediately.scheduled_time.FromDatetime(NOON + timedelta(seconds=patch))
    sent = NOON + timedelta(seconds=0.4)
    history = [signal(sent, "patch", made.SerializeToString()), look(sent + timedelta(seconds=0.1))]
    assert record_from(history).may_be_asked_for(NOON) == asked


def test_a_history_without_its_beginning_still_tells_of_pauses() -> None:
    paused = signal(NOON + MINUTE, "patch", SchedulePatch(pause="deploy").SerializeToString())
    resumed = signal(NOON + 2 * MINUTE, "patch", SchedulePatch(unpause="done").SerializeToString())
    end = NOON + 3 * MINUTE
    spans = [
        record_from(history).pauses(NOON, end, paused_now=paused_now)
        for history, paused_now in (
            ([look(NOON), paused, resumed], False),
            ([look(NOON), resumed], False),
            ([look(NOON), paused], True),
            ([look(NOON)], True),
            ([look(NOON)], False),
        )
    ]
    assert [[((begin - NOON) // MINUTE, (until - NOON) // MINUTE) for begin, until in each] for each in spans] == [
        [(1, 2)],
        [(0, 2)],
        [(1, 3)],
        [(0, 3)],
        [],
    ]
