"""A zone's offsets from UTC as pieces of constant offset, from 2000 to 2100."""

from __future__ import annotations

import bisect
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from schedules.cron.epoch import DAY
from schedules.cron.errors import CronError

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_YEAR, LAST_YEAR = 2000, 2100  # the years that the server's calendars know
YEAR_STARTS = tuple(int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in range(FIRST_YEAR, LAST_YEAR + 2))
BEGIN, END = YEAR_STARTS[0], YEAR_STARTS[-1]
SAMPLE = 4 * DAY  # no zone has changed its clocks twice within so short a time since 2000


class Piece(NamedTuple):
    """From start up to (not including) end, in Unix seconds, local time is UTC plus `offset` seconds."""

    start: int
    end: int
    offset: int


class Transition(NamedTuple):
    """At this Unix time the offset goes from `before` to `after`, in seconds."""

    at: int
    before: int
    after: int


class ZoneOffsets:
    """The pieces of one zone, found year by year as they are asked for."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone
        self._years: dict[int, tuple[Piece, ...]] = {}
        self._found = Piece(0, 0, 0)

    def piece(self, at: int) -> Piece:
        """The piece that holds an instant (Unix seconds from BEGIN up to END)."""
        found = self._found  # most questions are about the piece of the one before
        if not found.start <= at < found.end:
            index = bisect.bisect_right(YEAR_STARTS, at) - 1
            found = self._found = next(piece for piece in self.year(index) if at < piece.end)
        return found

    def year(self, index: int) -> tuple[Piece, ...]:
        """The pieces of UTC year 2000 + index."""
        found = self._years.get(index)
        if found is None:
            found = self._years[index] = tuple(self._scan(YEAR_STARTS[index], YEAR_STARTS[index + 1]))
        return found

    def transitions(self, first_year: int, last_year: int) -> tuple[Transition, ...]:
        """The changes of offset in the UTC years from first to last, both included."""
        pieces = [piece for year in range(first_year, last_year + 1) for piece in self.year(year - FIRST_YEAR)]
        return tuple(
            Transition(after.start, before.offset, after.offset)
            for before, after in pairwise(pieces)
            if before.offset != after.offset
        )

    def _scan(self, start: int, end: int) -> Iterator[Piece]:
        offset = self.offset_at(start)
        low = start
        while low < end:
            high = min(low + SAMPLE, end)
            if self.offset_at(high) != offset:
                change = self._change(low, high, offset)
                if change < end:
                    yield Piece(start, change, offset)
                    start, offset = change, self.offset_at(change)
                    high = change
            low = high
        yield Piece(start, end, offset)

    def _change(self, low: int, high: int, offset: int) -> int:
        while high - low > 1:
            middle = (low + high) // 2
            if self.offset_at(middle) == offset:
                low = middle
            else:
                high = middle
        return high

    def offset_at(self, at: int) -> int:
        """Seconds that local time is ahead of UTC."""
        offset = datetime.fromtimestamp(at, self._zone).utcoffset()
        return int(offset.total_seconds()) if offset is not None else 0


@lru_cache(maxsize=1024)
def zone_offsets(timezone: str) -> ZoneOffsets:
    """The offsets of an IANA zone; CronError where the tz database has no such name."""
    try:
        return ZoneOffsets(ZoneInfo(timezone))
    except (KeyError, OSError, ValueError) as unknown:  # no such zone, a directory, or a name that is no path
        raise CronError(
            f"{timezone!r} is no time zone",
            field="timezone",
            value=timezone,
            suggestion="write a name such as Europe/Berlin or UTC",
        ) from unknown
