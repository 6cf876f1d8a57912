"""The span of time over which compiled schedules are exact."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from schedules.cron.offsets import LAST_YEAR

HORIZON_YEARS = 3


def horizon(now: datetime) -> tuple[datetime, datetime]:
    """From the beginning of the year: whole years, so that a spec compiles alike all year; to the end of 2100 at most."""
    year = now.astimezone(UTC).year
    return datetime(year, 1, 1, tzinfo=UTC), datetime(min(year + HORIZON_YEARS, LAST_YEAR), 12, 31, tzinfo=UTC)


def new_year(year: int, timezone: str) -> datetime:
    """The instant at which a local year begins."""
    return datetime(year, 1, 1, tzinfo=ZoneInfo(timezone)).astimezone(UTC)
