"""Whether the server's tz database agrees with ours: a few of a schedule's times around clock changes, compared. Pure.

The rules of zones change by law, at short notice, and a server keeps the tz database that it was built with. The database is
not embedded in the schedules (`timezone_data`): the file of a zone in each of them makes every sync after a release of the
database rewrite them all, the SDK's own read-modify-write and the Web UI lose it, and the worker's and the user's zone would
still be another. One question a sync finds the same fault, and says which side to renew.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from activities.occurrence import stamp
from schedules.cron import between, next_after, previous_before
from schedules.cron.transitions import zone_nights
from schedules.times.horizon import horizon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedules.model import DesiredSchedule, Times

CHANGES = 4
"""Clock changes that are asked about, the next ones of each zone."""
CANDIDATES = 20
MOST_ZONES = 25
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to the server: the times of a schedule strictly between two instants, and the answer that we give."""

    schedule_id: str
    timezone: str
    start: datetime
    end: datetime
    expected: tuple[datetime, ...]


def probes(written: Iterable[DesiredSchedule], now: datetime) -> list[Probe]:
    """At most `CHANGES` questions for each zone, about that schedule which says most of it."""
    by_zone: dict[str, list[DesiredSchedule]] = {}
    for schedule in written:
        candidates = by_zone.setdefault(schedule.times.timezone, [])
        # The server's answer has the jitter in it.
        if schedule.times.calendars and not schedule.times.jitter and len(candidates) < CANDIDATES:
            candidates.append(schedule)
    found = (_of_zone(zone, candidates, now) for zone, candidates in sorted(by_zone.items()))
    return [probe for questions in islice(filter(None, found), MOST_ZONES) for probe in questions]


def _of_zone(zone: str, candidates: Sequence[DesiredSchedule], now: datetime) -> list[Probe]:
    _, end = horizon(now)
    changes = [datetime.fromtimestamp(night.at, UTC) for night in zone_nights(zone, now.year, end.year).each]
    ahead = [change for change in changes if change > now][:CHANGES]
    if not ahead:
        return []
    windows = [(window[1] - window[0], each) for each in candidates if (window := _window(each.times, ahead[0]))]
    best = min(windows, key=lambda window: window[0], default=None)
    return list(_asked(best[1], ahead)) if best else []


def _asked(schedule: DesiredSchedule, changes: Iterable[datetime]) -> Iterator[Probe]:
    for change in changes:
        if window := _window(schedule.times, change):
            start, end = window
            expected = tuple(between(schedule.times, start + SECOND, end))
            yield Probe(schedule.id, schedule.times.timezone, start, end, expected)


def _window(times: Times, change: datetime) -> tuple[datetime, datetime] | None:
    """From just before the last time before a change to just after the first one that follows it."""
    before, after = previous_before(times, change), next_after(times, change)
    return (before - SECOND, after + SECOND) if before and after else None


def difference(probe: Probe, served: Sequence[datetime]) -> str | None:
    """What to say where the server's answer is another, else None."""
    if tuple(served) == probe.expected:
        return None
    ours, theirs = (_shown(times) for times in (probe.expected, served))
    return (
        f"the server's tz database differs in {probe.timezone}: {probe.schedule_id} should run at {ours}, and the server "
        f"says {theirs}; update the older of the two (here it is the package tzdata, or the machine's own)"
    )


def _shown(times: Sequence[datetime]) -> str:
    return ", ".join(stamp(each) for each in times) or "no time"
