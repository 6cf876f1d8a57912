"""Whole local days as calendars that exclude them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from schedules.cron.carve import weekday_of
from schedules.cron.masks import mask_of, mask_of_ranges, ranges_of, span
from schedules.cron.offsets import BEGIN, FIRST_YEAR, LAST_YEAR
from schedules.recurrence import EVERY_HOUR, EVERY_MINUTE, EVERY_SECOND, Calendar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedules.recurrence import Interval

SIDES = {
    "year": "year",
    "month": "month",
    "day_of_month": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
}
EVERY_YEAR = span(FIRST_YEAR, LAST_YEAR)
WHOLE_DAYS = Calendar(second=EVERY_SECOND, minute=EVERY_MINUTE, hour=EVERY_HOUR, comment="excluded days")


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Local dates on which a job does not run; `weekdays` (mask, 0 = Sunday) are those excluded throughout the years."""

    dates: frozenset[date]
    weekdays: int = 0

    def dated_calendars(self) -> tuple[Calendar, ...]:
        """Every second of the dates whose weekday is not always excluded."""
        by_month: dict[tuple[int, int], int] = {}
        for day in self.dates:
            if not self.weekdays >> weekday_of(day) & 1:
                by_month[day.year, day.month] = by_month.get((day.year, day.month), 0) | 1 << day.day
        years_of: dict[tuple[int, int], int] = {}
        for (year, month), numbers in by_month.items():
            years_of[month, numbers] = years_of.get((month, numbers), 0) | 1 << year
        return tuple(
            replace(WHOLE_DAYS, month=ranges_of(1 << month), day_of_month=ranges_of(numbers), year=ranges_of(years))
            for (month, numbers), years in sorted(years_of.items())
        )

    def calendars(self) -> tuple[Calendar, ...]:
        """The same, and every second of the weekdays that are always excluded."""
        weekly = (replace(WHOLE_DAYS, day_of_week=ranges_of(self.weekdays)),) if self.weekdays else ()
        return (*weekly, *self.dated_calendars())


def sparing(exclusions: tuple[Calendar, ...], instants: Iterable[int], timezone: str) -> tuple[Calendar, ...]:
    """The exclusions without some Unix times: what a gap moves to another day counts as the run of its own day."""
    if exclusions:
        for at in instants:
            wall = datetime.fromtimestamp(at, ZoneInfo(timezone)).replace(tzinfo=None)
            exclusions = tuple(part for each in exclusions for part in _without(each, wall))
    return exclusions


def single_instants(intervals: Iterable[Interval]) -> list[int]:
    """The Unix times of the intervals that are so long that they stand for one."""
    return [interval.every for interval in intervals if interval.every >= BEGIN]


def _without(calendar: Calendar, wall: datetime) -> Iterator[Calendar]:
    """The calendar without one of its local times, in up to six parts."""
    masks = {name: mask_of_ranges(getattr(calendar, name)) or EVERY_YEAR for name in SIDES}
    weekdays = mask_of_ranges(calendar.day_of_week)
    if not (
        weekdays >> weekday_of(wall.date()) & 1 and all(masks[name] >> getattr(wall, SIDES[name]) & 1 for name in SIDES)
    ):
        yield calendar
        return
    for name, side in SIDES.items():
        here = 1 << getattr(wall, side)
        if rest := masks[name] & ~here:
            yield _with(calendar, name, rest)
        calendar = _with(calendar, name, here)


def _with(calendar: Calendar, side: str, mask: int) -> Calendar:
    changed: dict[str, Any] = {side: ranges_of(mask)}
    return replace(calendar, **changed)


NO_EXCLUSIONS = Exclusions(frozenset())


@lru_cache(maxsize=256)
def exclusions_of(dates: frozenset[date], first_year: int, last_year: int) -> Exclusions:
    """The dates, and which weekdays they hold throughout the years from first to last."""
    if not dates:
        return NO_EXCLUSIONS
    weekly = (weekday for weekday in range(7) if dates.issuperset(_all(weekday, first_year, last_year)))
    return Exclusions(dates, mask_of(weekly))


def _all(weekday: int, first_year: int, last_year: int) -> Iterable[date]:
    day = date(first_year, 1, 1)
    day += timedelta(days=(weekday - weekday_of(day)) % 7)
    while day.year <= last_year:
        yield day
        day += timedelta(days=7)
