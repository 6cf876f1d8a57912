"""`Times` as the compact text that a run carries, and back: what a worker needs to know the job's other times."""

from __future__ import annotations

from typing import Any

from activities.contract import TimesRequest
from schedules.model import (
    EVERY_DAY,
    EVERY_HOUR,
    EVERY_MINUTE,
    EVERY_MONTH,
    EVERY_SECOND,
    EVERY_WEEKDAY,
    Calendar,
    Interval,
    Range,
    Ranges,
    Times,
)

FIELDS = (
    ("second", EVERY_SECOND),
    ("minute", EVERY_MINUTE),
    ("hour", EVERY_HOUR),
    ("day_of_month", EVERY_DAY),
    ("month", EVERY_MONTH),
    ("day_of_week", EVERY_WEEKDAY),
    ("year", ()),
)


def to_request(times: Times) -> TimesRequest:
    """Calendars as `second minute hour day month weekday year`; comments, bounds and jitter do not matter to a run."""
    return TimesRequest(
        timezone=times.timezone,
        calendars=[calendar_text(calendar) for calendar in times.calendars],
        intervals=[[interval.every, interval.offset] for interval in times.intervals],
        exclusions=[calendar_text(calendar) for calendar in times.exclusions],
    )


def from_request(request: TimesRequest) -> Times:
    """The times that `to_request` wrote."""
    return Times(
        timezone=request.timezone,
        calendars=tuple(calendar_from(text) for text in request.calendars),
        intervals=tuple(Interval(every, offset) for every, offset in request.intervals),
        exclusions=tuple(calendar_from(text) for text in request.exclusions),
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
