"""Days counted from 1970-01-01, and the seconds of a day."""

from __future__ import annotations

from datetime import date

HOUR = 3600
DAY = 24 * HOUR
FIRST_DAY = date(1970, 1, 1).toordinal()


def date_of(day: int) -> date:
    """The date of a day counted from 1970-01-01."""
    return date.fromordinal(day + FIRST_DAY)


def day_number(day: date) -> int:
    """Days from 1970-01-01 to a date."""
    return day.toordinal() - FIRST_DAY
