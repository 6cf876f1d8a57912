"""From what the server keeps of a schedule to its record: the histories of its V1 scheduler, and its description. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from temporalio.api.enums.v1 import EventType
from temporalio.api.schedule.v1 import Schedule, SchedulePatch

from activities.account.record import Event, SchedulerRecord, time_of
from activities.note import MOVING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from temporalio.api.common.v1 import Payloads
    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.api.schedule.v1 import ScheduleState
    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse

    from activities.account.record import Kind

SCHEDULER_TYPE = "temporal-sys-scheduler-workflow"
"""The type of a workflow that is a scheduler; V2 puts a placeholder of another type under the same id."""
SCHEDULER_PREFIX = "temporal-sys-scheduler:"
_BYTES = 2
"""The wire type of a field that holds a message."""


@dataclass(frozen=True, slots=True)
class Part:
    """One run of a V1 scheduler; `continued`: it goes on where another one ended, and its first event repeats the state."""

    begin: datetime
    events: tuple[Event, ...]
    wakes: tuple[datetime, ...]
    signs: tuple[datetime, ...]
    continued: bool


def part_of(history: Sequence[HistoryEvent]) -> Part | None:
    """The record in the history of one run of a scheduler, or in the end of it; None for a history that is no scheduler's."""
    first = next(iter(history), None)
    if first is None:
        return None
    started = first.workflow_execution_started_event_attributes
    if first.HasField("workflow_execution_started_event_attributes") and not _is_scheduler(started.workflow_type.name):
        return None
    wakes = tuple(time_of(each.event_time) for each in history if _is_look(each))
    signs = tuple(sorted(time_of(each.event_time) for each in history if _is_sign(each)))
    return Part(time_of(first.event_time), (*_events(history),), wakes, signs, bool(started.continued_execution_run_id))


def record_of(
    parts: Sequence[Part], ended: datetime | None = None, described: DescribeScheduleResponse | None = None
) -> SchedulerRecord:
    """The record from the runs of a V1 scheduler, oldest first, and from the description of the schedule where V1 has none any more.

    `ended` is when the last of the runs ended for good: the schedule was deleted then, or moved to V2.
    """
    events = [
        event
        for number, part in enumerate(parts)
        for event in part.events
        if number == 0 or not (part.continued and event.kind == "known")
    ]
    forever = datetime.max.replace(tzinfo=UTC)
    spans = [(parts[0].begin, ended or forever)] if parts else []
    if described is not None and (ended or not parts):
        since = last_write(described)
        if not spans or since > spans[-1][1]:
            state = described.schedule.state
            kind: Kind = "created" if since == time_of(described.info.create_time) else "known"
            events.append(Event(since, kind, state.notes, paused=_is_paused(state), spec=described.schedule.spec))
            spans.append((since, forever))
        else:
            spans[-1] = (spans[-1][0], forever)
    return SchedulerRecord(
        tuple(spans),
        tuple(events),
        tuple(sorted(wake for part in parts for wake in part.wakes)),
        tuple(sorted(sign for part in parts for sign in part.signs)),
        (ended or forever) if parts else None,
    )


def last_write(described: DescribeScheduleResponse) -> datetime:
    """The moment of the last create, update, pause, trigger or backfill on V2; on V1 that of the last update."""
    info = described.info
    return max(time_of(info.create_time), time_of(info.update_time))


def _is_scheduler(workflow_type: str) -> bool:
    return workflow_type == SCHEDULER_TYPE


def _is_look(event: HistoryEvent) -> bool:
    return event.HasField("workflow_task_completed_event_attributes")


def _is_sign(event: HistoryEvent) -> bool:
    """The start of an activity is left out: it is written at the activity's end, and carries the time of its beginning."""
    return event.event_type != EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED


def _events(part: Iterable[HistoryEvent]) -> Iterator[Event]:
    for event in part:
        at = time_of(event.event_time)
        if event.HasField("workflow_execution_started_event_attributes"):
            started = event.workflow_execution_started_event_attributes
            yield from _start(started.input, at, continued=bool(started.continued_execution_run_id))
        elif event.HasField("workflow_execution_signaled_event_attributes"):
            signal = event.workflow_execution_signaled_event_attributes
            yield from _signal(signal.signal_name, signal.input, at, signal.identity)


def _start(given: Payloads, at: datetime, *, continued: bool) -> Iterator[Event]:
    schedule = _schedule(given)
    if schedule is not None:
        state = schedule.state
        yield Event(at, "known" if continued else "created", state.notes, paused=_is_paused(state), spec=schedule.spec)


def _signal(name: str, given: Payloads, at: datetime, by: str) -> Iterator[Event]:
    if name == "update" and (schedule := _schedule(given)) is not None:
        state = schedule.state
        yield Event(at, "updated", state.notes, by, _is_paused(state), schedule.spec)
    elif name == "patch":
        patch = SchedulePatch.FromString(_data(given))
        if patch.pause and patch.pause != MOVING:
            yield Event(at, "paused", patch.pause, by, paused=True)
        if patch.unpause:
            yield Event(at, "unpaused", patch.unpause, by, paused=False)
        if patch.HasField("trigger_immediately"):
            asked = patch.trigger_immediately
            second = (time_of(asked.scheduled_time) if asked.HasField("scheduled_time") else at).replace(microsecond=0)
            yield Event(at, "triggered", by=by, span=(second, second))
        for backfill in patch.backfill_request:
            yield Event(at, "backfilled", by=by, span=(time_of(backfill.start_time), time_of(backfill.end_time)))


def _is_paused(state: ScheduleState) -> bool:
    """Whether somebody has paused it: while Temporal moves a schedule, it is paused, too."""
    return state.paused and state.notes != MOVING


def _schedule(given: Payloads) -> Schedule | None:
    """The first field of StartScheduleArgs and of FullUpdateRequest, messages of the server's own that no API has."""
    try:
        return Schedule.FromString(_first_message(_data(given)))
    except (DecodeError, IndexError, ValueError):
        return None


def _data(given: Payloads) -> bytes:
    return given.payloads[0].data if given.payloads else b""


def _first_message(data: bytes) -> bytes:
    """Field 1 of an encoded message that begins with it. Raises ValueError where it does not."""
    if not data or data[0] != 1 << 3 | _BYTES:
        raise ValueError("no message in field 1")
    length = shift = 0
    for place, byte in enumerate(data[1:], 2):
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # noqa: PLR2004  the last byte of a varint
            return data[place : place + length]
    raise ValueError("a length without an end")
