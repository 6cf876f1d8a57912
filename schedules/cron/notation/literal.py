"""A calendar of the server as one line of text, word for word: `second minute hour day month weekday year # comment`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedules.text.shown import shown
from schedules.times.wire import FIELDS, calendar_from, calendar_text

if TYPE_CHECKING:
    from schedules.cron.values import Calendar

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
