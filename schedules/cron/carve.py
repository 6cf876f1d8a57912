"""Calendars that keep away from the dates and hours at which clocks change."""

from __future__ import annotations

import calendar
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from schedules.cron.days import Rect, merged
from schedules.cron.epoch import date_of, day_number
from schedules.cron.masks import members
from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

OUTSIDE_YEARS = 10  # how far a part that needs its years listed reaches beyond the horizon
CLEAR = "clear of clock changes"
OTHER_YEARS = "years without worked-out clock changes"


@dataclass(frozen=True, slots=True)
class Part:
    """Days and hours of a schedule: every year where `years` is None. `note` says why the part stands alone."""

    rect: Rect
    hours: int
    years: frozenset[int] | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Carver:
    """Cuts (day, hours) out of rectangles, over the years from `first` to `last`.

    With `by_weekday` the cut names the weekday of the change, which stays small because clocks mostly change on Sundays;
    where midnight itself is missing a weekday must not be named (see `missing_midnight`), and single dates are cut.
    """

    risk: Mapping[int, int]
    hours: int
    first: int
    last: int
    only_years: frozenset[int] | None
    by_weekday: bool

    def parts(self, rect: Rect, concerned: Iterable[int]) -> Iterator[Part]:
        """The rectangle without the hours at risk on the concerned days; the whole of it where there are none."""
        dates: dict[int, list[date]] = {}
        for day in concerned:
            dates.setdefault(date_of(day).month, []).append(date_of(day))
        note = CLEAR if dates else ""
        if untouched := _within(rect, months=rect.months & ~sum(1 << month for month in dates)):
            yield Part(untouched, self.hours, self.only_years, note)
        for month, touched in sorted(dates.items()):
            yield from self._month(replace(rect, months=1 << month), touched)

    def _month(self, rect: Rect, dates: list[date]) -> Iterator[Part]:
        days = sum({1 << each.day for each in dates})
        weekdays = sum({1 << weekday_of(each) for each in dates}) if self.by_weekday else rect.weekdays
        for rest in (
            _within(rect, weekdays=rect.weekdays & ~weekdays),
            _within(rect, weekdays=rect.weekdays & weekdays, days=rect.days & ~days),
        ):
            if rest:
                yield Part(rest, self.hours, self.only_years, CLEAR)
        if block := _within(rect, weekdays=rect.weekdays & weekdays, days=rect.days & days):
            yield from self._block(block)

    def _block(self, block: Rect) -> Iterator[Part]:
        dated = [(day, self.hours & ~self.risk.get(day_number, 0)) for day, day_number in self._dates(block)]
        shared = {hours for _, hours in dated}
        outside = self._outside()
        if self.by_weekday and len(shared) == 1 and block.years == "all" and self.only_years is None:
            safe = shared.pop()
            yield Part(block, safe, None, CLEAR)
            yield Part(block, self.hours & ~safe, outside, OTHER_YEARS)
            return
        for day, hours in dated:
            yield Part(Rect(1 << day.month, 1 << day.day), hours, frozenset((day.year,)), CLEAR)
        yield Part(block, self.hours, outside, OTHER_YEARS)

    def _dates(self, block: Rect) -> Iterator[tuple[date, int]]:
        for year in range(self.first, self.last + 1):
            if self.only_years is not None and year not in self.only_years:
                continue
            for month in members(block.months):
                for day in members(block.days):
                    if day <= calendar.monthrange(year, month)[1] and contains(block, each := date(year, month, day)):
                        yield each, day_number(each)

    def _outside(self) -> frozenset[int]:
        years = (self.first - 1, *range(self.last + 1, self.last + 1 + OUTSIDE_YEARS))
        known = (year for year in years if FIRST_YEAR <= year <= LAST_YEAR)
        return frozenset(year for year in known if self.only_years is None or year in self.only_years)


def contains(rect: Rect, day: date) -> bool:
    """Whether a date lies in the rectangle."""
    leap = calendar.isleap(day.year)
    if rect.years != "all" and leap != (rect.years == "leap"):
        return False
    return bool(rect.months >> day.month & rect.days >> day.day & rect.weekdays >> weekday_of(day) & 1)


def weekday_of(day: date) -> int:
    """0 = Sunday."""
    return day.isoweekday() % 7


def _within(
    rect: Rect, *, months: int | None = None, days: int | None = None, weekdays: int | None = None
) -> Rect | None:
    return Rect(
        rect.months if months is None else months,
        rect.days if days is None else days,
        rect.weekdays if weekdays is None else weekdays,
        rect.years,
    ).possible()


def joined(parts: Iterable[Part]) -> Iterator[Part]:
    """The same parts, those that differ in their days alone put together."""
    groups: dict[tuple[int, frozenset[int] | None, str], list[Rect]] = {}
    for part in parts:
        if part.hours:
            groups.setdefault((part.hours, part.years, part.note), []).append(part.rect)
    for (hours, years, note), rects in groups.items():
        for rect in merged(rects):
            yield Part(rect, hours, years, note)
