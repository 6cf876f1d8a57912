"""The two day fields: numbers and picks such as `L`, `15W` and `5#1`, and how the two combine."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from schedules.cron import days
from schedules.cron.days import Rect
from schedules.cron.errors import CronError
from schedules.cron.notation.cells import Cell
from schedules.cron.notation.fields import Reader
from schedules.cron.notation.hashing import may_be_hashed

if TYPE_CHECKING:
    from schedules.cron.notation.dialects import Dialect
    from schedules.cron.notation.units import Unit

_FROM_LAST = re.compile(r"L(?:-(\d{1,2}))?(W)?", re.IGNORECASE | re.ASCII)
_NEAREST = re.compile(r"(\w{1,9})W", re.IGNORECASE | re.ASCII)
_LAST_WEEKDAY = re.compile(r"(\w{1,9})L", re.IGNORECASE | re.ASCII)
LARGEST_DISTANCE = 30
SATURDAY = 6


@dataclass(frozen=True, slots=True)
class DayField:
    """What a day field allows, and how it was written where the dialect's rule asks for that."""

    rects: tuple[Rect, ...]
    star_prefix: bool
    star_exact: bool
    question_mark: bool


class DayCells(NamedTuple):
    """The two day fields of one expression and how to read them."""

    day_reader: Reader
    day: Cell
    weekday_reader: Reader
    weekday: Cell

    def rects(self, months: int) -> tuple[Rect, ...]:
        """The days of both fields, by the dialect's rule, in the given months, in few rectangles."""
        known = None
        hashes = self.day_reader.dialect.hashes
        if not hashes or not (may_be_hashed(self.day.text) or may_be_hashed(self.weekday.text)):
            known = _known(
                self.day_reader.dialect,
                self.day_reader.unit,
                self.day.text,
                self.weekday_reader.unit,
                self.weekday.text,
                months,
            )
        return self.read(months) if known is None else known

    def read(self, months: int) -> tuple[Rect, ...]:
        """The same, read from the text in any case."""
        day = _field(self.day_reader, self.day, _picked_day, lambda numbers: Rect(days=numbers))
        weekday = _field(self.weekday_reader, self.weekday, _picked_weekday, lambda numbers: Rect(weekdays=numbers))
        both = _combined(self.day_reader.dialect, day, weekday, self.day.at)
        return days.merged(days.intersection(both, (Rect(months=months),)))


@lru_cache(maxsize=4096)
def _known(
    dialect: Dialect, day_unit: Unit, day: str, weekday_unit: Unit, weekday: str, months: int
) -> tuple[Rect, ...] | None:
    """The days of two texts, or None where one has a fault, whose place only the reader of the cells can tell."""
    cells = DayCells(Reader(day_unit, dialect, ""), Cell(day, 0), Reader(weekday_unit, dialect, ""), Cell(weekday, 0))
    try:
        return cells.read(months)
    except CronError:
        return None


Picker = Callable[[Reader, Cell], tuple[Rect, ...] | None]


def _field(reader: Reader, cell: Cell, picked: Picker, rect_of: Callable[[int], Rect]) -> DayField:
    numbers, rects = 0, list[Rect]()
    for item in cell.split(","):
        pick = picked(reader, item) if reader.dialect.picks else None
        if pick is None:
            numbers |= reader.item(item)
        else:
            rects.extend(pick)
    if numbers:
        rects.append(rect_of(numbers))
    return _day_field(cell, rects)


def _day_field(cell: Cell, rects: list[Rect]) -> DayField:
    stars = [item.text for item in cell.split(",") if item.text[:1] in {"*", "?"}]
    return DayField(
        tuple(rects),
        star_prefix=cell.text[:1] in {"*", "?"},
        star_exact=any(re.fullmatch(r".(/0*1)?", text) for text in stars),
        question_mark=cell.text == "?",
    )


def _picked_day(reader: Reader, item: Cell) -> tuple[Rect, ...] | None:
    if found := _FROM_LAST.fullmatch(item.text):
        distance = int(found[1] or 0)
        if distance > LARGEST_DISTANCE:
            raise reader.error(
                f"{item.text} lies before the first day", item, f"L-{LARGEST_DISTANCE} is the largest distance"
            )
        return days.nearest_weekday_before_last(distance) if found[2] else days.before_last_day(distance)
    if found := _NEAREST.fullmatch(item.text):
        return days.nearest_weekday(reader.number(Cell(found[1], item.at)))
    return None


def _picked_weekday(reader: Reader, item: Cell) -> tuple[Rect, ...] | None:
    if "#" in item.text:
        weekday, nth = item.partition("#")
        if nth is None or nth.text not in {"1", "2", "3", "4", "5"}:
            raise reader.error(f"{item.text!r} has no week number", item, "after # stands a number from 1 to 5")
        return days.nth_weekday(reader.unit.meaning(reader.number(weekday)), int(nth.text))
    if item.text.upper() == "L":
        if reader.dialect.last_weekday_alone:
            return (Rect(weekdays=1 << SATURDAY),)
        raise reader.error("L stands alone", item, "write 5L for the last Friday, or put L into day-of-month")
    if found := _LAST_WEEKDAY.fullmatch(item.text):
        return days.last_weekday(reader.unit.meaning(reader.number(Cell(found[1], item.at))))
    return None


def _combined(dialect: Dialect, day: DayField, weekday: DayField, at: int) -> tuple[Rect, ...]:
    """The days of both fields by the dialect's rule, in few rectangles. `at` is the place of the first day field."""
    if dialect.day_rule == "one_question_mark" and day.question_mark == weekday.question_mark:
        raise CronError(
            "both day fields are `?`" if day.question_mark else "both day fields are given",
            field="day-of-month and day-of-week",
            suggestion=f"in {dialect.name} exactly one of the two is `?`: write it in the one that does not matter",
            position=at,
        )
    if _both_must_match(dialect, day, weekday):
        return days.merged(days.intersection(days.merged(day.rects), days.merged(weekday.rects)))
    return days.merged((*day.rects, *weekday.rects))


def _both_must_match(dialect: Dialect, day: DayField, weekday: DayField) -> bool:
    if dialect.day_rule == "star_prefix":
        return day.star_prefix or weekday.star_prefix
    if dialect.day_rule == "star_exact":
        return day.star_exact or weekday.star_exact
    return True
