"""What `only`, `except`, `on_holiday` and business days mean, day by day. Shares nothing with the product."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from tests.oracle.cron_text import read

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Office:
    """`open_on` says whether a job may run on a local date; business days are these, and not weekends unless `weekends`."""

    open_on: Callable[[date], bool]
    weekends: bool

    def is_business(self, day: date) -> bool:
        return self.open_on(day) and (self.weekends or day.isoweekday() <= 5)

    def nearest(self, day: date, step: int) -> date:
        day += step * DAY
        while not self.is_business(day):
            day += step * DAY
        return day

    def nth(self, year: int, month: int, nth: int) -> date | None:
        days = []
        day = date(year, month, 1)
        while day.month == month:
            if self.is_business(day):
                days.append(day)
            day += DAY
        if nth < 0:
            days.reverse()
        return days[abs(nth) - 1] if abs(nth) <= len(days) else None


def cron_runs(
    expression: str, zone: str, gap: str, repeat: str, office: Office, on_holiday: str, years: range
) -> set[datetime]:
    """The instants of a five-field expression in some local years; runs that are moved into them included."""
    text = read(expression, "cron")
    if text.follows_real_time:
        gap, repeat = "skip", "both"
    clock = [time(hour, minute) for hour in range(24) for minute in range(60) if text.on_clock(hour, minute)]
    found: set[datetime] = set()
    day = date(years[0], 1, 1) - 20 * DAY
    while day < date(years[-1] + 1, 1, 1) + 20 * DAY:
        if text.on_date(day):
            target: date | None = day
            if not office.open_on(day):
                step = {"skip": 0, "next_business_day": 1, "previous_business_day": -1}[on_holiday]
                target = office.nearest(day, step) if step else None
            if target and target.year in years:
                for at in clock:
                    found.update(instants(datetime.combine(target, at), zone, gap, repeat))
        day += DAY
    return found


def business_day_runs(
    nth: int, at: time, zone: str, gap: str, repeat: str, office: Office, years: range
) -> set[datetime]:
    """The instants of the n-th business day of each month."""
    found: set[datetime] = set()
    for year in years:
        for month in range(1, 13):
            if day := office.nth(year, month, nth):
                found.update(instants(datetime.combine(day, at), zone, gap, repeat))
    return found


@lru_cache(maxsize=100_000)
def instants(wall: datetime, zone: str, gap: str, repeat: str) -> tuple[datetime, ...]:
    """When a clock on the wall shows a time; where it changes within a day of it, every minute around it is looked at."""
    tz = ZoneInfo(zone)
    guess = wall.replace(tzinfo=UTC)
    offsets = {(guess + timedelta(hours=hours)).astimezone(tz).utcoffset() for hours in range(-36, 37)}
    if len(offsets) == 1:
        return (guess - (offsets.pop() or timedelta()),)
    near = [guess + timedelta(minutes=minutes) for minutes in range(-15 * 60, 15 * 60 + 1)]
    shown = tuple(each for each in near if each.astimezone(tz).replace(tzinfo=None, fold=0) == wall)
    if shown:
        return {"first": shown[:1], "second": shown[-1:], "both": shown}[repeat]
    if gap == "skip":
        return ()
    after = next(each for each in near if each.astimezone(tz).replace(tzinfo=None) > wall)
    last_shown = (after - timedelta(minutes=1)).astimezone(tz).replace(tzinfo=None)
    return (after if gap == "run_after" else after + (wall - last_shown) - timedelta(minutes=1),)
