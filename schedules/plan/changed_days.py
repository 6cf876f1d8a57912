"""The days on which two schedules differ that begin alike. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from schedules.cron.occurrences import Occurrences

MOST_COMPARED = 20_000
FURTHEST = timedelta(days=3 * 366)
MOST_DAYS, MOST_OF_DAY = 4, 4


def changed_days(
    old: Occurrences, new: Occurrences, zone: ZoneInfo, now: datetime, until: datetime | None
) -> Iterator[str]:
    """One sentence with the first of them; none where they are alike for as long as is looked."""
    end = until or now + FURTHEST
    before, after = (list(islice(each.between(now, end), MOST_COMPARED)) for each in (old, new))
    if MOST_COMPARED in (len(before), len(after)):
        end = min(each[-1] for each in (before, after) if each)
    goes, comes = ({at for at in some if at < end} for some in (before, after))
    days = sorted({at.astimezone(zone).date() for at in goes ^ comes})
    if not days:
        return
    told = [
        f"{day:%a %Y-%m-%d} {_of_day(day, goes - comes, zone)} → {_of_day(day, comes - goes, zone)}"
        for day in days[:MOST_DAYS]
    ]
    more = f", and on {len(days) - MOST_DAYS} more days until {end:%Y-%m-%d}" if len(days) > MOST_DAYS else ""
    yield f"other times on {'; '.join(told)}{more}"


def _of_day(day: date, times: set[datetime], zone: ZoneInfo) -> str:
    local = [at.astimezone(zone) for at in sorted(times)]
    shown = [f"{at:%H:%M %Z}" for at in local if at.date() == day]
    more = ["…"] if len(shown) > MOST_OF_DAY else []
    return ", ".join(shown[:MOST_OF_DAY] + more) or "none"
