"""Walks real time minute by minute through `zoneinfo` and says when a job runs. Shares nothing with the product."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from tests.oracle.cron_text import Text, read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

MARGIN = timedelta(hours=3)  # longer than any change of clocks
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Walk:
    """What a clock on the wall shows during a window: when each minute is seen, and which minutes are jumped over."""

    seen: dict[datetime, tuple[datetime, ...]]  # wall minute -> instants at which it begins, one or two
    jumped: dict[
        datetime, tuple[datetime, datetime]
    ]  # wall minute -> (first instant after the gap, moved by the gap's length)


@lru_cache(maxsize=160)
def walk(zone: str, start: datetime, end: datetime) -> Walk:
    tz = ZoneInfo(zone)
    seen: dict[datetime, tuple[datetime, ...]] = {}
    jumped: dict[datetime, tuple[datetime, datetime]] = {}
    now = (start - MARGIN).replace(second=0, microsecond=0)
    before: datetime | None = None
    while now < end + MARGIN:
        wall = now.astimezone(tz).replace(tzinfo=None, fold=0)
        if before is not None:
            missing = before + MINUTE
            while missing < wall:
                jumped[missing] = (now, now + (missing - before - MINUTE))
                missing += MINUTE
        seen[wall] = (*seen.get(wall, ()), now)
        before = wall
        now += MINUTE
    return Walk(seen, jumped)


def runs(
    expression: str,
    *,
    dialect: str,
    zone: str,
    gap: str,
    repeat: str,
    start: datetime,
    end: datetime,
    excluded: frozenset[date] = frozenset(),
) -> list[datetime]:
    """The instants strictly between start and end (aware) at which the job runs by the policy, ascending; never on an excluded local date."""
    text = read(expression, dialect)
    clock = walk(zone, start, end)
    found = {instant for instant in _all_runs(text, clock, gap, repeat, excluded) if start < instant < end}
    return sorted(found)


def _all_runs(text: Text, clock: Walk, gap: str, repeat: str, excluded: frozenset[date]) -> Iterator[datetime]:
    if text.follows_real_time:
        gap, repeat = "skip", "both"
    seconds = [timedelta(seconds=second) for second in text.seconds()]
    for wall in _matching(text, [wall for wall in (*clock.seen, *clock.jumped) if wall.date() not in excluded]):
        if wall in clock.jumped:
            after, moved = clock.jumped[wall]
            if gap == "run_after":
                yield after
            elif gap == "shift":
                yield from (moved + second for second in seconds)
            continue
        instants = clock.seen[wall]
        chosen = {"first": instants[:1], "second": instants[-1:], "both": instants}[repeat]
        yield from (instant + second for instant in chosen for second in seconds)


def _matching(text: Text, walls: list[datetime]) -> Iterator[datetime]:
    clock = {(hour, minute) for hour in range(24) for minute in range(60) if text.on_clock(hour, minute)}
    dates = {day for day in {wall.date() for wall in walls} if text.on_date(day)}
    return (wall for wall in walls if (wall.hour, wall.minute) in clock and wall.date() in dates)


def changes(zone: str, first_year: int, last_year: int) -> list[datetime]:
    """The instants, to the minute, at which a zone's offset changes, from a walk hour by hour."""
    tz = ZoneInfo(zone)
    found = []
    now = datetime(first_year, 1, 1, tzinfo=UTC)
    while now.year <= last_year:
        later = now + timedelta(hours=1)
        if now.astimezone(tz).utcoffset() != later.astimezone(tz).utcoffset():
            moment = now
            while moment.astimezone(tz).utcoffset() == now.astimezone(tz).utcoffset():
                moment += MINUTE
            found.append(moment)
        now = later
    return found
