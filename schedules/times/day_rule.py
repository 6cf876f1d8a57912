"""Which local days a job keeps away from, and which are its business days."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from schedules.cron.carve import weekday_of
from schedules.spec.calendars import NEXT, PREVIOUS, OnHoliday
from schedules.times.calendars import MONDAY_TO_FRIDAY, Calendars, Days, on_weekdays

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date


@dataclass(frozen=True, eq=False)
class DayRule:
    """`excluded` days are those that `only` and `except` rule out; a business day is one that they allow.

    Without `only`, business days are Monday to Friday. `weekly` says that the weekdays alone tell which days are allowed.
    """

    excluded: frozenset[date]
    allowed: Days
    business: Days
    weekly: bool

    @property
    def ends(self) -> bool:
        """Whether no day after the years worked out is known to be allowed."""
        return not self.allowed.weekdays

    def goes_on_with(self, day: date) -> bool:
        """Whether days of the same weekday are allowed after the years worked out, as far as is known."""
        return bool(self.allowed.weekdays >> weekday_of(day) & 1)

    def excluded_until(self, year: int) -> frozenset[date]:
        """The excluded days up to the end of a year."""
        if year not in self._until:
            self._until[year] = frozenset(day for day in self.excluded if day.year <= year)
        return self._until[year]

    @cached_property
    def _until(self) -> dict[int, frozenset[date]]:
        return {}

    @cached_property
    def _business(self) -> list[date]:
        return sorted(self.business.dates)

    def moved(self, day: date, where: OnHoliday) -> date | None:
        """The business day to which a run on an excluded day goes, or None where it is skipped or none is known."""
        if where == NEXT:
            index = bisect.bisect_right(self._business, day)
        elif where == PREVIOUS:
            index = bisect.bisect_left(self._business, day) - 1
        else:
            return None
        return self._business[index] if 0 <= index < len(self._business) else None

    def nth_of_months(self, nth: int) -> Iterator[date]:
        """The n-th business day of each month, from its end where n is negative; months without one are left out."""
        months: dict[tuple[int, int], list[date]] = {}
        for day in self._business:
            months.setdefault((day.year, day.month), []).append(day)
        index = nth - 1 if nth > 0 else nth
        return (days[index] for days in months.values() if -len(days) <= index < len(days))


def day_rule(calendars: Calendars, only: tuple[str, ...], without: tuple[str, ...]) -> DayRule:
    """The rule of a job that names these calendars."""
    every = calendars.every_day()
    allowed = (calendars.union(only) if only else every) - calendars.union(without)
    business = allowed if only else on_weekdays(allowed, MONDAY_TO_FRIDAY)
    excluded = every.dates - allowed.dates
    return DayRule(excluded, allowed, business, _by_weekdays(every, allowed))


def _by_weekdays(every: Days, allowed: Days) -> bool:
    return allowed.complete and on_weekdays(every, allowed.weekdays).dates == allowed.dates
