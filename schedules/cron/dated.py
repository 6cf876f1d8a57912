"""The times of day of a pattern on other days than its own: on given dates, or on the n-th business day of each month."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedules.cron.compile import compile_pattern
from schedules.cron.days import Rect, merged, month_lengths
from schedules.cron.masks import mask_of, members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from schedules.cron.compiled import Compiled, Policy
    from schedules.cron.pattern import Pattern


def compile_dates(
    pattern: Pattern, dates: Iterable[date], text: str, *, timezone: str, policy: Policy, years: tuple[int, int]
) -> Iterator[Compiled]:
    """The pattern's times of day on the given local dates, in a few calendars for each year; `text` comments them."""
    by_year: dict[int, list[date]] = {}
    for day in sorted(dates):
        by_year.setdefault(day.year, []).append(day)
    for year, days in by_year.items():
        on_days = replace(pattern, days=_rects(days), years=frozenset((year,)))
        yield compile_pattern(on_days, text, timezone=timezone, policy=policy, years=years)


def _rects(days: Iterable[date]) -> tuple[Rect, ...]:
    """Dates of one year as few rectangles."""
    months: dict[int, int] = {}
    for day in days:
        months[day.day] = months.get(day.day, 0) | 1 << day.month
    return merged(Rect(months=in_months, days=1 << number) for number, in_months in months.items())


def nth_business_day(nth: int, weekdays: int) -> tuple[Rect, ...]:
    """The n-th day of each month, from its end where n is negative, that falls on one of the weekdays (mask, 0 = Sunday)."""
    if nth > 0:
        return merged(_picked(nth, weekdays, 31, Rect()))
    return merged(
        rect
        for length, months, years in month_lengths()
        for rect in _picked(nth, weekdays, length, Rect(months, years=years))
    )


def _picked(nth: int, weekdays: int, length: int, within: Rect) -> Iterator[Rect]:
    """For each weekday the days of a month of that length on which it is the n-th to count."""
    for weekday in members(weekdays):
        days = mask_of(day for day in range(1, length + 1) if _counted(nth, day, length, weekday, weekdays) == abs(nth))
        if days and (rect := within & Rect(days=days, weekdays=1 << weekday)):
            yield rect


def _counted(nth: int, day: int, length: int, weekday: int, weekdays: int) -> int:
    """How many days count from the beginning of the month (from its end where nth is negative) to this one on `weekday`."""
    distances = range(day) if nth > 0 else range(0, day - length - 1, -1)
    return sum(weekdays >> (weekday - distance) % 7 & 1 for distance in distances)
