"""Rules for days as unions of rectangles: months x days of the month x weekdays, in all, in leap or in common years."""

from __future__ import annotations

import calendar
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from schedules.cron.errors import CronError
from schedules.cron.masks import mask_of, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ALL_MONTHS = span(1, 12)
ALL_DAYS = span(1, 31)
ALL_WEEKDAYS = span(0, 6)
MONDAY_TO_FRIDAY = span(1, 5)
FEBRUARY = mask_of((2,))
MONDAY, FRIDAY = mask_of((1,)), mask_of((5,))

MOST_RECTS = 400  # bounds the work for absurd expressions; `1W,2W,…,31W` has 250

Years = Literal["all", "leap", "common"]


@dataclass(frozen=True, slots=True)
class Rect:
    """The days that lie in all of these: months, days of the month, weekdays (masks, 0 = Sunday), years by length."""

    months: int = ALL_MONTHS
    days: int = ALL_DAYS
    weekdays: int = ALL_WEEKDAYS
    years: Years = "all"

    def __and__(self, other: Rect) -> Rect | None:
        """The days of both, or None where there are none."""
        if "all" not in (self.years, other.years) and self.years != other.years:
            return None
        both = Rect(
            self.months & other.months,
            self.days & other.days,
            self.weekdays & other.weekdays,
            other.years if self.years == "all" else self.years,
        )
        return both.possible()

    def possible(self) -> Rect | None:
        """The same days without months that are too short for all of `days`; None where no day is left."""
        months = self.months & _months_with(self.days, self.years)
        if not (months and self.weekdays):
            return None
        return self if months == self.months else Rect(months, self.days, self.weekdays, self.years)


@lru_cache(maxsize=4096)
def _months_with(days: int, years: Years) -> int:
    year = 2027 if years == "common" else 2028
    return mask_of(month for month in range(1, 13) if days & span(1, calendar.monthrange(year, month)[1]))


def month_lengths() -> Iterator[tuple[int, int, Years]]:
    """Every length of a month with the months and years that have it."""
    for length in (31, 30):
        months = mask_of(month for month in range(1, 13) if calendar.monthrange(2028, month)[1] == length)
        yield length, months, "all"
    yield 29, FEBRUARY, "leap"
    yield 28, FEBRUARY, "common"


def before_last_day(distance: int) -> tuple[Rect, ...]:
    """`L` (distance 0) and `L-n`: the day `distance` days before the last of the month."""
    rects = (
        Rect(months, mask_of((length - distance,)), years=years)
        for length, months, years in month_lengths()
        if length > distance
    )
    return tuple(
        replace(rect, years="all") if rect.days == 1 << 29 and rect.months == FEBRUARY else rect for rect in rects
    )


def nearest_weekday(day: int) -> tuple[Rect, ...]:
    """`nW`: the Monday to Friday nearest to day n without leaving the month; months without a day n have none."""
    return tuple(
        rect
        for length, months, years in month_lengths()
        if day <= length
        for rect in _nearest(day, length, Rect(months, years=years))
    )


def nearest_weekday_before_last(distance: int) -> tuple[Rect, ...]:
    """`LW` (distance 0) and `L-nW`: the Monday to Friday nearest to the day `distance` days before the last one."""
    return tuple(
        rect
        for length, months, years in month_lengths()
        if length > distance
        for rect in _nearest(length - distance, length, Rect(months, years=years))
    )


def _nearest(day: int, length: int, within: Rect) -> tuple[Rect, ...]:
    on_saturday = Rect(days=1 << 3, weekdays=MONDAY) if day == 1 else Rect(days=1 << (day - 1), weekdays=FRIDAY)
    on_sunday = (
        Rect(days=1 << (day - 2), weekdays=FRIDAY) if day == length else Rect(days=1 << (day + 1), weekdays=MONDAY)
    )
    picks = (Rect(days=1 << day, weekdays=MONDAY_TO_FRIDAY), on_saturday, on_sunday)
    return tuple(found for pick in picks if (found := within & pick))


def nth_weekday(weekday: int, nth: int) -> tuple[Rect, ...]:
    """`d#n`: the n-th such weekday of the month, n from 1 to 5."""
    first = 7 * (nth - 1) + 1
    return (Rect(days=span(first, min(first + 6, 31)), weekdays=1 << weekday),)


def last_weekday(weekday: int) -> tuple[Rect, ...]:
    """`dL`: the last such weekday of the month."""
    return tuple(
        Rect(months, span(length - 6, length), 1 << weekday, years=years) for length, months, years in month_lengths()
    )


def intersection(left: Iterable[Rect], right: Iterable[Rect]) -> tuple[Rect, ...]:
    """The days of both unions."""
    others = tuple(right)
    return tuple(both for one in left for other in others if (both := one & other))


def merged(rects: Iterable[Rect]) -> tuple[Rect, ...]:
    """The same days in fewer rectangles, where two differ in a single side or one holds the other."""
    left = list(dict.fromkeys(rect for each in rects if (rect := each.possible())))
    if len(left) > MOST_RECTS:
        raise CronError(
            "too many different rules for days",
            field="day-of-month and day-of-week",
            suggestion="split the expression into several",
        )
    if len(left) == 1:
        return tuple(left)
    result: list[Rect] = []
    while left:
        rect = left.pop(0)
        for index, other in enumerate(left):
            if joined := _joined(rect, other):
                left[index] = joined
                break
        else:
            result.append(rect)
    return tuple(result)


def _joined(one: Rect, other: Rect) -> Rect | None:
    differing = [side for side in ("months", "days", "weekdays", "years") if getattr(one, side) != getattr(other, side)]
    if differing == ["years"]:
        return replace(one, years="all")
    if not differing:
        return one
    if len(differing) == 1:
        side = differing[0]
        return replace(one, **{side: getattr(one, side) | getattr(other, side)})
    return next((big for big, small in ((one, other), (other, one)) if big & small == small), None)
