"""Named calendars worked out: which dates they hold during the horizon, and which weekdays they go on with after it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING

from schedules.cron.carve import weekday_of
from schedules.cron.masks import mask_of, span
from schedules.spec.calendars import WEEKDAYS
from schedules.spec.holidays import holiday_dates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schedules.spec.calendars import CalendarSpec

DAY = timedelta(days=1)
ALL_WEEKDAYS = span(0, 6)
MONDAY_TO_FRIDAY = span(1, 5)


@dataclass(frozen=True, slots=True)
class Days:
    """`dates` within the years asked for; `weekdays` (mask, 0 = Sunday) is what is known of the years after them.

    `complete` says that nothing is left to be known of the last of these years, nor of later ones.
    """

    dates: frozenset[date] = frozenset()
    weekdays: int = 0
    complete: bool = True

    def __or__(self, other: Days) -> Days:
        """The days of either."""
        complete = self.complete and other.complete
        return Days(self.dates | other.dates, self.weekdays | other.weekdays, complete)

    def __sub__(self, other: Days) -> Days:
        """The days that the other does not hold."""
        complete = self.complete and other.complete
        return Days(self.dates - other.dates, self.weekdays & ~other.weekdays, complete)


class Calendars:
    """The calendars of one file in the years from first to last; each is worked out once."""

    def __init__(self, specs: Mapping[str, CalendarSpec], first: int, last: int) -> None:
        """`specs` name each other without circles."""
        self.specs = specs
        self.first, self.last = first, last
        self.named = cache(self._named)
        self.union = cache(self._union)

    def every_day(self) -> Days:
        """All there are."""
        return Days(frozenset(days_between(date(self.first, 1, 1), date(self.last, 12, 31))), ALL_WEEKDAYS)

    def _union(self, names: tuple[str, ...]) -> Days:
        found = Days()
        for name in names:
            found |= self.named(name)
        return found

    def _named(self, name: str) -> Days:
        spec = self.specs[name]
        return self._own(spec) - self.union(spec.without)

    def _own(self, spec: CalendarSpec) -> Days:
        if spec.weekdays is not None:
            return on_weekdays(self.every_day(), mask_of((WEEKDAYS.index(day) + 1) % 7 for day in spec.weekdays))
        if spec.holidays is not None:
            dates = holiday_dates(spec.holidays, spec.subdivision, self.first, self.last)
            return Days(dates, complete=False)
        given = [span for span in spec.dates or () if span[0].year <= self.last]
        dates = frozenset(day for first, last in given for day in days_between(first, last))
        within = frozenset(day for day in dates if self.first <= day.year <= self.last)
        return Days(within, complete=all(last.year < self.last for _, last in spec.dates or ()))


def on_weekdays(days: Days, mask: int) -> Days:
    """Those of the days that fall on the weekdays of a mask."""
    dates = frozenset(day for day in days.dates if mask >> weekday_of(day) & 1)
    return Days(dates, days.weekdays & mask, days.complete)


def days_between(first: date, last: date) -> Iterator[date]:
    """From first to last, both included."""
    return (first + DAY * number for number in range((last - first).days + 1))
