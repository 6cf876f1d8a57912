"""The scheduler's own record of one schedule: what it did, what it was told, for which spans of time that is known. Pure.

V1 runs a schedule as a workflow, whose history tells all. V2 keeps no history: it is known only since the last write, of which
the schedule's description tells the time. A schedule that has moved from V1 to V2 has a span of each kind.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from google.protobuf.timestamp_pb2 import Timestamp
    from temporalio.api.schedule.v1 import ScheduleSpec

Kind = Literal["known", "created", "paused", "unpaused", "updated", "triggered", "backfilled"]
TRIGGER_DELAY = timedelta(seconds=2)
"""A run that is triggered without a time stands for the moment at which the scheduler hears of it, up to so much later."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing done to the schedule.

    `paused` and `spec` are as it was left, None where they were not touched. A `known` event is the earliest state that is still
    remembered. `span` is what a backfill covers, or the moment for which a trigger starts a run.
    """

    at: datetime
    kind: Kind
    note: str = ""
    by: str = ""
    paused: bool | None = None
    spec: ScheduleSpec | None = None
    span: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class SchedulerRecord:
    """`spans` are when everything that was done is among `events`; the last one may end with `datetime.max`.

    `wakes` are the instants at which the scheduler looked for what is due, `signs` those at which the server did anything for it,
    both ascending and only for V1, whose span ends at `signs_until`.
    """

    spans: tuple[tuple[datetime, datetime], ...] = ()
    events: tuple[Event, ...] = ()
    wakes: tuple[datetime, ...] = ()
    signs: tuple[datetime, ...] = ()
    signs_until: datetime | None = None

    def knows(self, at: datetime, until: datetime | None = None) -> bool:
        """Whether everything is known that was done at an instant, or from then until another."""
        return any(begin <= at and (until or at) <= end for begin, end in self.spans)

    def pause_at(self, at: datetime) -> Event | None:
        """What had paused the schedule that was paused at an instant; None where it was not, or nobody knows."""
        last = self._last(at, lambda event: event.paused is not None)
        if last is None or not last.paused:
            return None
        first = last
        for event in reversed(self.events):
            if event.at <= at and event.paused is not None:
                if not event.paused:
                    break
                first = event
        return first

    def pause_between(self, since: datetime, until: datetime) -> Event | None:
        """The first pause that began in a span."""
        return next((event for event in self.events if since < event.at <= until and event.paused), None)

    def pause_end(self, at: datetime) -> Event | None:
        """What ended a pause that was there at an instant."""
        return next((event for event in self.events if event.at > at and event.paused is False), None)

    def spec_at(self, at: datetime) -> ScheduleSpec | None:
        """The spec by which the schedule fired at an instant; None where nobody knows."""
        last = self._last(at, lambda event: event.spec is not None)
        return last.spec if last else None

    def earlier_specs(self, since: datetime, until: datetime) -> list[tuple[datetime, datetime, ScheduleSpec]]:
        """The specs that were replaced in the span, each with its begin and its end."""
        told = [(event.at, event.spec) for event in self.events if event.spec is not None]
        return [
            (begin, end, spec)
            for (begin, spec), (end, newer) in pairwise(told)
            if since < end and begin <= until and spec != newer
        ]

    def change_after(self, at: datetime) -> Event | None:
        """The first change of the spec after an instant."""
        return next((event for event in self.events if event.at > at and event.kind == "updated"), None)

    def asked_for(self, at: datetime) -> Event | None:
        """The trigger or backfill that asks for a run of a time."""
        asked = (event for event in self.events if event.span and event.span[0] <= at <= event.span[1])
        return next(asked, None)

    def may_be_asked_for(self, at: datetime) -> bool:
        """Whether a trigger or backfill that was sent after a time may have started its run.

        A trigger that names no time stands for the moment at which the scheduler hears of it.
        """
        for event in self.events:
            if event.span is None or event.at < at - TRIGGER_DELAY:
                continue
            first, last = event.span
            if event.kind == "triggered" and first == event.at.replace(microsecond=0):
                last = self.wake_from(event.at) or event.at + TRIGGER_DELAY
            if first <= at <= last:
                return True
        return False

    def pauses(self, since: datetime, until: datetime, *, paused_now: bool) -> list[tuple[datetime, datetime]]:
        """The spans of pauses from since to until; `paused_now` is told by the schedule itself."""
        told = [event for event in self.events if event.paused is not None]
        later = [event for event in told if since < event.at <= until]
        if self.pause_at(since):
            paused = True
        elif any(event.at <= since for event in told):
            paused = False
        else:
            paused = (
                later[0].kind == "unpaused" if later else paused_now and not any(event.at > until for event in told)
            )
        found, begin = [], since
        for event in later:
            if paused and not event.paused:
                found.append((begin, event.at))
            begin = event.at if event.paused and not paused else begin
            paused = bool(event.paused)
        return [*found, (begin, until)] if paused else found

    def wake_from(self, at: datetime) -> datetime | None:
        """The first instant from `at` on at which the scheduler looked for what is due."""
        return _first_from(self.wakes, at)

    def wake_before(self, at: datetime) -> datetime | None:
        """The last instant before `at` at which it did."""
        place = bisect_left(self.wakes, at)
        return self.wakes[place - 1] if place else None

    def has_signs(self, at: datetime) -> bool:
        """Whether what the server did for the schedule is known at an instant."""
        first = self.spans[0][0] if self.spans else datetime.max.replace(tzinfo=UTC)
        return self.signs_until is not None and first <= at <= self.signs_until

    def sign_from(self, at: datetime) -> datetime | None:
        """The first instant from `at` on at which the server did anything for the schedule."""
        return _first_from(self.signs, at)

    def sign_before(self, at: datetime) -> datetime | None:
        """The last instant before `at` at which it did."""
        place = bisect_left(self.signs, at)
        return self.signs[place - 1] if place else None

    def _last(self, at: datetime, which: Callable[[Event], bool]) -> Event | None:
        return next((event for event in reversed(self.events) if event.at <= at and which(event)), None)


def _first_from(instants: Sequence[datetime], at: datetime) -> datetime | None:
    place = bisect_left(instants, at)
    return instants[place] if place < len(instants) else None


def time_of(message: Timestamp) -> datetime:
    """An aware time in UTC; 1970 for a message without one."""
    return message.ToDatetime(tzinfo=UTC)
