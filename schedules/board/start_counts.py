"""The number of starts in a window, by steps of five minutes; schedules that are alike are walked through once. Pure."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedules.board.cells import CELL
from schedules.cron import between

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from schedules.model import Times

STEP = 300
"""Seconds; a cell has a whole number of them."""


class Fires:
    """`counts` of the steps from number `first` on, and how many seconds after its begin each one's first time is."""

    def __init__(self, times: Times, first: int) -> None:
        self.first = first
        self.counts = array("H")
        self._after = array("H")
        self._times = times
        self._ahead: tuple[int, list[tuple[int, int]]] = (-1, [])

    def cover(self, first: int, end: int) -> None:
        """The steps from `first` up to, and not including, `end`; only what is new is walked through."""
        gone = min(max(first - self.first, 0), len(self.counts))
        del self.counts[:gone], self._after[:gone]
        self.first += gone
        known = self.first + len(self.counts)
        steps = max(end - known, 0)
        self.counts.extend([0] * steps)
        self._after.extend([0] * steps)
        for at in _times(self._times, known * STEP, end * STEP):
            place = at // STEP - self.first
            if not self.counts[place]:
                self._after[place] = at % STEP
            self.counts[place] += 1

    def cell(self, number: int) -> tuple[int, int]:
        """How many times a cell has, and the first of them (Unix; 0 where there is none)."""
        first = number * CELL // STEP - self.first
        places = [place for place in range(max(first, 0), max(first + CELL // STEP, 0)) if self._count(place)]
        if not places:
            return 0, 0
        at = (self.first + places[0]) * STEP + self._after[places[0]]
        return sum(self.counts[place] for place in places), at

    def ahead(self, now: int) -> list[tuple[int, int]]:
        """From after `now` on, cell by cell: the first time and how many there are."""
        end, known = self._ahead
        if end != self.first + len(self.counts) or not known or known[0][0] <= now:
            self._ahead = (self.first + len(self.counts), list(self._walk(now)))
        return self._ahead[1]

    def _walk(self, now: int) -> Iterator[tuple[int, int]]:
        current = now // CELL
        rest = list(_times(self._times, now + 1, (current + 1) * CELL))
        if rest:
            yield rest[0], len(rest)
        for number in range(current + 1, (self.first + len(self.counts)) * STEP // CELL):
            count, at = self.cell(number)
            if count:
                yield at, count

    def steps_ahead(self, now: int) -> array[int]:
        """Counts by step from that of `now` on, of which the times up to `now` are left out."""
        place = now // STEP - self.first
        counts = self.counts[place:]
        counts[0] = sum(1 for _ in _times(self._times, now + 1, (now // STEP + 1) * STEP))
        return counts

    def _count(self, place: int) -> int:
        return self.counts[place] if place < len(self.counts) else 0


class Grid:
    """The fires of each distinct schedule, kept from one window to the next."""

    def __init__(self) -> None:
        self._fires: dict[Times, Fires] = {}

    def of(self, times: Times, begin: int, end: int) -> Fires:
        """From begin to end, both multiples of a cell."""
        fires = self._fires.get(times)
        if fires is None:
            fires = self._fires[times] = Fires(times, begin // STEP)
        fires.cover(begin // STEP, end // STEP)
        return fires

    def keep(self, times: Collection[Times]) -> None:
        """Forgets all others."""
        self._fires = {each: fires for each, fires in self._fires.items() if each in times}


def _times(times: Times, begin: int, end: int) -> Iterator[int]:
    """Unix times from begin up to, and not including, end."""
    for at in between(times, datetime.fromtimestamp(begin, UTC), datetime.fromtimestamp(end, UTC)):
        yield int(at.timestamp())
