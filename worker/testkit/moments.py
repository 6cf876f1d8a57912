"""Dates and times as tests write them: local ones of the job's zone, unless they have an offset. Pure."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from worker.testkit.errors import KitError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

Moment = str | date | datetime
"""`2027-03-14` or `2027-03-14T02:30` (local), `2027-03-14T07:00Z`, or the same as date or datetime."""


def read(given: Moment) -> date | datetime:
    """A text as date or datetime. Raises KitError."""
    if not isinstance(given, str):
        return given
    for kind in (date, datetime):
        try:
            return kind.fromisoformat(given)
        except ValueError:
            continue
    raise KitError(
        f"{given!r} is neither date nor time; write one such as 2027-03-14, 2027-03-14T02:30 or 2027-03-14T07:00Z"
    )


def instant(given: Moment, zone: ZoneInfo) -> datetime:
    """The moment in UTC; a date is the beginning of its local day."""
    moment = read(given)
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


def end_of_day(given: Moment, zone: ZoneInfo) -> datetime:
    """The end of the local day of the moment, in UTC."""
    day = instant(given, zone).astimezone(zone).date()
    return instant(day + timedelta(days=1), zone)


def means(given: Moment, scheduled_at: datetime) -> bool:
    """Whether a scheduled time, local and aware, is the given one, or on the given date."""
    moment = read(given)
    if not isinstance(moment, datetime):
        return scheduled_at.date() == moment
    return moment == (scheduled_at if moment.tzinfo else scheduled_at.replace(tzinfo=None))


def shown(moment: datetime) -> str:
    """`2027-03-14 03:00 EDT`, seconds only where there are any."""
    clock = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    return f"{moment:%Y-%m-%d} {clock} {moment.tzname()}"
