"""A calendar of the server as one line of text, word for word: `second minute hour day month weekday year # comment`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from schedules.model import (
    EVERY_DAY,
    EVERY_HOUR,
    EVERY_MINUTE,
    EVERY_MONTH,
    EVERY_SECOND,
    EVERY_WEEKDAY,
    Calendar,
    Range,
    Ranges,
)
from schedules.text.shown import shown

if TYPE_CHECKING:
    from schedules.recurrence import Calendar

BOUNDS = {
    "second": (0, 59),
    "minute": (0, 59),
    "hour": (0, 23),
    "day_of_month": (1, 31),
    "month": (1, 12),
    "day_of_week": (0, 6),
    "year": (2000, 2100),
}
PART = r"(\*|[0-9]+(-[0-9]+(/[1-9][0-9]*)?)?(,[0-9]+(-[0-9]+(/[1-9][0-9]*)?)?)*)"
PATTERN = rf"^{PART}( {PART}){{6}}( # .+)?$"
EXAMPLE = 'write the seven fields second, minute, hour, day, month, weekday and year, such as "0 30 8 * * 1-5 *"'


def literal_text(calendar: Calendar) -> str:
    """The line that `parse_literal` reads back."""
    text = calendar_text(calendar)
    return f"{text} # {calendar.comment}" if calendar.comment else text


def parse_literal(text: str) -> Calendar:
    """The calendar, in which every field must match. Raises ValueError."""
    if not re.fullmatch(PATTERN, text, re.DOTALL):
        raise ValueError(f"{shown(text)} is not a calendar; {EXAMPLE}")
    fields, _, comment = text.partition(" # ")
    calendar = calendar_from(fields, comment)
    for name, _ in FIELDS:
        low, high = BOUNDS[name]
        for part in getattr(calendar, name):
            if not low <= part.start <= part.end <= high:
                raise ValueError(f"{name.replace('_', ' ')} {part.start}-{part.end} is outside {low}-{high}; {EXAMPLE}")
    return calendar


def check_literal(text: str) -> str:
    """The text itself if it is a calendar. Raises ValueError."""
    parse_literal(text)
    return text


FIELDS = (
    ("second", EVERY_SECOND),
    ("minute", EVERY_MINUTE),
    ("hour", EVERY_HOUR),
    ("day_of_month", EVERY_DAY),
    ("month", EVERY_MONTH),
    ("day_of_week", EVERY_WEEKDAY),
    ("year", ()),
)


def calendar_text(calendar: Calendar) -> str:
    """Seven fields, all of which must match: `0 30 8 * * 1-5 *` is 08:30 from Monday to Friday."""
    return " ".join(_ranges_text(getattr(calendar, name), full) for name, full in FIELDS)


def _ranges_text(ranges: Ranges, full: Ranges) -> str:
    return "*" if ranges == full else ",".join(_range_text(r) for r in ranges)


def _range_text(r: Range) -> str:
    numbers = str(r.start) if r.start == r.end else f"{r.start}-{r.end}"
    return numbers if r.step == 1 else f"{numbers}/{r.step}"


def calendar_from(text: str, comment: str = "") -> Calendar:
    """The calendar that `calendar_text` wrote."""
    parts = zip(text.split(" "), FIELDS, strict=True)
    fields: dict[str, Any] = {name: full if part == "*" else _ranges(part) for part, (name, full) in parts}
    return Calendar(**fields, comment=comment)


def _ranges(text: str) -> Ranges:
    return tuple(_range(part) for part in text.split(","))


def _range(text: str) -> Range:
    numbers, _, step = text.partition("/")
    start, _, end = numbers.partition("-")
    return Range(int(start), int(end or start), int(step or 1))
