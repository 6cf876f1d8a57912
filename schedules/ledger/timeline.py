"""What the server's own scheduler did with a schedule, and what hands did to it, in order of time. Pure."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from schedules.model import Times

Kind = Literal["known", "created", "paused", "unpaused", "updated", "triggered", "backfilled"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing done to the schedule; `paused` and `times` are as it was left, None where they were not touched.

    `known` is the earliest state that the server still remembers. `span` is what a backfill covers, or the second for which
    a trigger starts a run.
    """

    at: datetime
    kind: Kind
    note: str = ""
    by: str = ""
    paused: bool | None = None
    times: Times | None = None
    span: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Known from `since` on. `wakes` are the instants at which the scheduler looked for what is due, ascending."""

    since: datetime
    events: tuple[Event, ...] = ()
    wakes: tuple[datetime, ...] = field(default=())

    def knows(self, at: datetime) -> bool:
        """Whether it reaches back so far."""
        return at >= self.since

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

    def pause_end(self, at: datetime) -> Event | None:
        """What ended a pause that was there at an instant."""
        return next((event for event in self.events if event.at > at and event.paused is False), None)

    def times_at(self, at: datetime) -> Times | None:
        """When the schedule fired by the spec of that instant; None where nobody knows."""
        last = self._last(at, lambda event: event.times is not None)
        return last.times if last else None

    def change_after(self, at: datetime) -> Event | None:
        """The first change of the spec after an instant."""
        return next((event for event in self.events if event.at > at and event.kind == "updated"), None)

    def asked_for(self, at: datetime) -> Event | None:
        """The trigger or backfill that a run of this scheduled time may come from."""
        asked = (event for event in self.events if event.span and event.span[0] <= at <= event.span[1])
        return next(asked, None)

    def wake_from(self, at: datetime) -> datetime | None:
        """The first instant from `at` on at which the scheduler looked for what is due."""
        place = bisect_left(self.wakes, at)
        return self.wakes[place] if place < len(self.wakes) else None

    def wake_before(self, at: datetime) -> datetime | None:
        """The last instant before `at` at which it did."""
        place = bisect_left(self.wakes, at)
        return self.wakes[place - 1] if place else None

    def _last(self, at: datetime, which: Callable[[Event], bool]) -> Event | None:
        return next((event for event in reversed(self.events) if event.at <= at and which(event)), None)
