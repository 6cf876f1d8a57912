"""Day-of-week fields with steps and ranges, each dialect by its own numbering."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schedules.cron import CronError, compile_cron
from schedules.cron.masks import mask_of_ranges, members

START, END = datetime(2027, 1, 1, tzinfo=UTC), datetime(2029, 12, 31, tzinfo=UTC)
NAMES = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


def weekdays(field: str, dialect: str) -> str:
    """The names of the days, Sunday first."""
    days = {"quartz": f"0 0 9 ? * {field}", "spring": f"0 0 9 * * {field}", "eventbridge": f"cron(0 9 ? * {field} *)"}
    text = days.get(dialect, f"0 9 * * {field}")
    made = compile_cron(text, timezone="UTC", dialect=dialect, horizon_start=START, horizon_end=END)
    found = {number for each in made.calendars for number in members(mask_of_ranges(each.day_of_week))}
    return " ".join(NAMES[number] for number in sorted(found))


@pytest.mark.parametrize(
    ("field", "dialect", "expected"),
    [
        ("*/2", "spring", "Sun Mon Wed Fri"),  # 1-7 from Monday on: BitsCronField and ChronoField.DAY_OF_WEEK
        ("5/2", "spring", "Sun Fri"),
        ("1/2", "spring", "Sun Mon Wed Fri"),
        ("*/7", "spring", "Mon"),
        ("0/2", "spring", "Sun Tue Thu Sat"),
        ("7/2", "spring", "Sun"),
        ("MON-SUN", "spring", "Sun Mon Tue Wed Thu Fri Sat"),
        ("FRI-SUN", "spring", "Sun Fri Sat"),
        ("SUN-TUE", "spring", "Sun Mon Tue"),
        ("7-2", "spring", "Sun Mon Tue"),
        ("SUN-SUN", "spring", "Sun Mon Tue Wed Thu Fri Sat"),  # parseRange: a range that begins with 7 begins with 0
        ("SUN", "spring", "Sun"),
        ("SUN#2", "spring", "Sun"),
        ("5/2", "temporal", "Sun Fri"),  # as the server fires
        ("1/2", "temporal", "Sun Mon Wed Fri"),
        ("6/1", "temporal", "Sun Sat"),
        ("*/2", "temporal", "Sun Tue Thu Sat"),
        ("*/7", "temporal", "Sun"),
        ("*/7", "cron", "Sun"),  # Vixie: 0-7 in steps of 7
        ("5/2", "kubernetes", "Fri"),  # robfig: 0-6
        ("*/2", "quartz", "Sun Tue Thu Sat"),  # 1-7 from Sunday on
        ("5/2", "quartz", "Thu Sat"),
        ("5/2", "eventbridge", "Thu Sat"),
        ("*/5", "celery", "Sun Fri"),
    ],
)
def test_steps_and_ranges_end_where_the_dialect_ends(field: str, dialect: str, expected: str) -> None:
    assert weekdays(field, dialect) == expected


def test_spring_refuses_a_range_that_turns_round() -> None:
    with pytest.raises(CronError, match="begins after its end"):
        weekdays("FRI-MON", "spring")
