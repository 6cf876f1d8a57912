"""From the history of the server's own scheduler workflow to the timeline of a schedule.

Server 1.32 runs each schedule as a workflow `temporal-sys-scheduler:<id>`, whose history anybody who may read the namespace
may read: its start and its signals carry what was done, and its workflow tasks are its looks for what is due. It begins anew
now and then; the earlier parts are kept for the retention of the namespace. A server that does it otherwise gives no timeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from temporalio.api.schedule.v1 import Schedule, SchedulePatch

from schedules.ledger.timeline import Event, Timeline
from schedules.server.translate_times import from_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from google.protobuf.timestamp_pb2 import Timestamp
    from temporalio.api.common.v1 import Payloads
    from temporalio.api.history.v1 import HistoryEvent

ID_PREFIX = "temporal-sys-scheduler:"
DIVISION = "TemporalScheduler"
BYTES = 2
"""The wire type of a field that holds a message."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one run of a scheduler tells; `continued` says that it goes on where another one ended, as its first event repeats."""

    events: tuple[Event, ...]
    wakes: tuple[datetime, ...]
    continued: bool


def part_of(history: Sequence[HistoryEvent]) -> Part:
    """What the history of one run of a scheduler tells."""
    first = next(iter(history), None)
    started = first.workflow_execution_started_event_attributes if first else None
    wakes = tuple(_time(event.event_time) for event in history if _is_look(event))
    return Part(tuple(_events(history)), wakes, bool(started and started.continued_execution_run_id))


def timeline_of(parts: Sequence[Part]) -> Timeline | None:
    """The timeline from the runs of a scheduler, oldest first; None where there is nothing to go by."""
    events = [
        event
        for number, part in enumerate(parts)
        for event in part.events
        if number == 0 or not (part.continued and event.kind == "known")
    ]
    if not events:
        return None
    return Timeline(events[0].at, tuple(events), tuple(sorted(wake for part in parts for wake in part.wakes)))


def _is_look(event: HistoryEvent) -> bool:
    return event.HasField("workflow_task_completed_event_attributes")


def _events(part: Iterable[HistoryEvent]) -> Iterator[Event]:
    for event in part:
        at = _time(event.event_time)
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
        yield Event(
            at, "known" if continued else "created", state.notes, paused=state.paused, times=from_spec(schedule.spec)
        )


def _signal(name: str, given: Payloads, at: datetime, by: str) -> Iterator[Event]:
    if name == "update" and (schedule := _schedule(given)) is not None:
        state = schedule.state
        yield Event(at, "updated", state.notes, by, state.paused, from_spec(schedule.spec))
    elif name == "patch":
        patch = SchedulePatch.FromString(_data(given))
        if patch.pause:
            yield Event(at, "paused", patch.pause, by, paused=True)
        if patch.unpause:
            yield Event(at, "unpaused", patch.unpause, by, paused=False)
        if patch.HasField("trigger_immediately"):
            asked = patch.trigger_immediately
            second = (_time(asked.scheduled_time) if asked.HasField("scheduled_time") else at).replace(microsecond=0)
            yield Event(at, "triggered", by=by, span=(second, second))
        for backfill in patch.backfill_request:
            yield Event(at, "backfilled", by=by, span=(_time(backfill.start_time), _time(backfill.end_time)))


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
    if not data or data[0] != 1 << 3 | BYTES:
        raise ValueError("no message in field 1")
    length = shift = 0
    for place, byte in enumerate(data[1:], 2):
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # noqa: PLR2004  the last byte of a varint
            return data[place : place + length]
    raise ValueError("a length without an end")


def _time(message: Timestamp) -> datetime:
    return message.ToDatetime(tzinfo=UTC)
