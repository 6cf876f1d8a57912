"""`Times` as the compact text that a run carries, and back: what a worker needs to know the job's other times."""

from __future__ import annotations

from activities.contract import TimesRequest
from schedules.cron.notation.literal import calendar_from, calendar_text
from schedules.model import (
    Interval,
    Times,
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
