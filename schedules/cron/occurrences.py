"""The times at which a schedule fires, worked out from its compiled form alone.

Instants are whole seconds between 2000 and 2100, the years that the server's calendars know. A local time that does not
exist does not fire and one that happens twice fires twice: what a policy makes of them is compiled, not decided here.
The mark of `@reboot` is left out: nobody waits for it.
"""

from __future__ import annotations

import bisect
import heapq
import math
from datetime import UTC, datetime
from functools import lru_cache
from itertools import filterfalse
from typing import TYPE_CHECKING

from schedules.cron.offsets import BEGIN, END, zone_offsets
from schedules.cron.reboot import is_mark
from schedules.cron.walk import CalendarWalk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedules.cron.offsets import ZoneOffsets
    from schedules.recurrence import Interval, Times

    Source = Callable[[int], int | None]

FEW = 4  # an interval with at most so many instants before 2101 is kept as a list of them
MOST_EXCLUDED = 40_000  # candidates in a row, a century of days: more than that is taken for never


class Occurrences:
    """A schedule made ready to be asked for its times. Instants in and out are aware datetimes; results are in UTC."""

    def __init__(self, times: Times) -> None:
        self._zone = zone_offsets(times.timezone or "UTC")  # as on the server
        self._exclusions = tuple(_Exclusion(CalendarWalk(each), self._zone) for each in times.exclusions)
        self._first = BEGIN if times.start_at is None else max(BEGIN, math.ceil(times.start_at.timestamp()))
        self._limit = END if times.end_at is None else min(END, math.floor(times.end_at.timestamp()) + 1)
        self._sources = tuple(self._all_sources(times))

    def next_after(self, after: datetime) -> datetime | None:
        """The first time strictly after an instant, or None."""
        found = self._next(math.floor(after.timestamp()) + 1)
        return None if found is None else _utc(found)

    def previous_before(self, before: datetime) -> datetime | None:
        """The last time strictly before an instant, or None."""
        end = min(math.ceil(before.timestamp()), self._limit)
        distance = 64
        while (found := self._next(end - distance)) is None or found >= end:
            if end - distance <= self._first:
                return None
            distance *= 8
        while found + 1 < end:  # no time lies between `end` and `before`
            middle = (found + 1 + end) // 2
            later = self._next(middle)
            if later is None or later >= end:
                end = middle
            else:
                found = later
        return _utc(found)

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The times from start up to, and not including, end, in order."""
        limit = math.ceil(end.timestamp())
        for found in self._walk(math.ceil(start.timestamp())):
            if found >= limit:
                return
            yield _utc(found)

    def count_between(self, start: datetime, end: datetime) -> int:
        """How many times there are from start up to, and not including, end."""
        return sum(1 for _ in self.between(start, end))

    def _next(self, at: int) -> int | None:
        return next(self._walk(at), None)

    def _walk(self, at: int) -> Iterator[int]:
        """Unix times from `at` on, ascending, without the excluded ones."""
        at = max(at, self._first)
        if len(self._sources) == 1 and not self._exclusions:
            return self._single(self._sources[0], at)
        return self._merged(at)

    def _merged(self, at: int) -> Iterator[int]:
        excluded_in_a_row = 0
        heap = self._start(at)
        while heap:
            found = heap[0][0]
            until = self._excluded_until(found)
            if until is None:
                excluded_in_a_row = 0
                yield found
                until = found + 1
            elif (excluded_in_a_row := excluded_in_a_row + 1) > MOST_EXCLUDED:
                return
            while heap and heap[0][0] < until:
                self._advance(heap, until)

    def _single(self, source: Source, at: int) -> Iterator[int]:
        limit = self._limit
        while (found := source(at)) is not None and found < limit:
            yield found
            at = found + 1

    def _start(self, at: int) -> list[tuple[int, int]]:
        heap = [
            (found, index)
            for index, source in enumerate(self._sources)
            if (found := source(at)) is not None and found < self._limit
        ]
        heapq.heapify(heap)
        return heap

    def _advance(self, heap: list[tuple[int, int]], at: int) -> None:
        _, index = heap[0]
        found = self._sources[index](at)
        if found is None or found >= self._limit:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (found, index))

    def _excluded_until(self, at: int) -> int | None:
        return next((until for each in self._exclusions if (until := each.until(at)) is not None), None)

    def _all_sources(self, times: Times) -> Iterator[Source]:
        for each in filterfalse(is_mark, times.calendars):
            yield self._calendar_source(CalendarWalk(each))
        instants: set[int] = set()
        for interval in times.intervals:
            if END // interval.every <= FEW:
                instants.update(_instants(interval))
            else:
                yield _interval_source(interval)
        if instants:
            yield _list_source(sorted(instants))

    def _calendar_source(self, walk: CalendarWalk) -> Source:
        zone, limit = self._zone, self._limit
        return lambda at: walk.instant_from(at, zone, limit)


class _Exclusion:
    def __init__(self, walk: CalendarWalk, zone: ZoneOffsets) -> None:
        self._walk, self._zone = walk, zone
        self._step = walk.whole_step()

    def until(self, at: int) -> int | None:
        """None if the instant is not excluded, else the first instant that may not be."""
        piece = self._zone.piece(at)
        if not self._walk.matches(at + piece.offset):
            return None
        return min(at + self._step - (at + piece.offset) % self._step, piece.end)


def _interval_source(interval: Interval) -> Source:
    every, offset = interval.every, interval.offset
    return lambda at: at + (offset - at) % every


def _list_source(instants: list[int]) -> Source:
    def first_from(at: int) -> int | None:
        index = bisect.bisect_left(instants, at)
        return instants[index] if index < len(instants) else None

    return first_from


def _instants(interval: Interval) -> Iterator[int]:
    return (at for at in range(interval.offset or interval.every, END, interval.every) if at >= BEGIN)


def _utc(at: int) -> datetime:
    return datetime.fromtimestamp(at, UTC)


@lru_cache(maxsize=256)
def occurrences_of(times: Times) -> Occurrences:
    """The schedule made ready; the last ones asked for are kept."""
    return Occurrences(times)


def next_after(times: Times, after: datetime) -> datetime | None:
    """The first time strictly after an aware instant, in UTC, or None if there is none up to the year 2100."""
    return occurrences_of(times).next_after(after)


def previous_before(times: Times, before: datetime) -> datetime | None:
    """The last time strictly before an aware instant, in UTC, or None if there is none from the year 2000 on."""
    return occurrences_of(times).previous_before(before)


def between(times: Times, start: datetime, end: datetime) -> Iterator[datetime]:
    """The times from start up to, and not including, end, ascending, in UTC."""
    return occurrences_of(times).between(start, end)


def count_between(times: Times, start: datetime, end: datetime) -> int:
    """How many times there are from start up to, and not including, end."""
    return occurrences_of(times).count_between(start, end)
