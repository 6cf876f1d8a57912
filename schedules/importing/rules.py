"""The old meaning of a schedule, as a rule about wall-clock fields, and the instants at which it fires. Pure.

This evaluator proves an import, so it shares no code with the compiler of `schedules.cron`: it walks over local days, and asks
`zoneinfo` which instants a wall time has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

ClockChanges = Literal["literal", "vixie", "once", "shift"]
"""What a scheduler does with local times that a clock change skips or repeats.

literal: a skipped time does not run, a repeated one runs twice (Kubernetes, Celery, Airflow).
vixie: a skipped time runs right after the gap and a repeated one once; minutes or hours that start with `*` follow real time.
once: a skipped time does not run, a repeated one runs in its first pass only (EventBridge Scheduler, systemd).
shift: a skipped time runs later by the length of the gap, a repeated one runs twice (APScheduler 3.11).
"""
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class WallRule:
    """Fires at each of `clock` on each local day that `on_day` accepts. `clock` is sorted."""

    clock: tuple[time, ...]
    on_day: Callable[[date], bool]
    zone: str
    changes: ClockChanges
    real_time: bool = False  #: vixie only: the minute or hour field starts with `*`

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instants from `start` up to and not including `end`, both aware; ascending, each once, in UTC."""
        zone = ZoneInfo(self.zone)
        day, last = start.astimezone(zone).date() - DAY, end.astimezone(zone).date() + DAY
        pending: list[datetime] = []
        while day <= last:
            if self.on_day(day):
                for at in self.clock:
                    pending.extend(self._instants(datetime.combine(day, at), zone))
            day += DAY
            horizon = datetime.combine(day, time(), zone).astimezone(UTC) - DAY
            ready = sorted({at for at in pending if at < horizon})
            pending = [at for at in pending if at >= horizon]
            yield from (at for at in ready if start <= at < end)
        yield from (at for at in sorted(set(pending)) if start <= at < end)

    def _instants(self, wall: datetime, zone: ZoneInfo) -> list[datetime]:
        first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        if first == second:
            return [first]
        if second < first:  # skipped: fold=0 reads the offset before the gap, fold=1 the one after it
            return self._in_gap(wall, first, zone)
        twice = self.changes in {"literal", "shift"} or (self.changes == "vixie" and self.real_time)
        return [first, second] if twice else [first]

    def _in_gap(self, wall: datetime, shifted: datetime, zone: ZoneInfo) -> list[datetime]:
        if self.changes == "shift":
            return [shifted]
        if self.changes != "vixie" or self.real_time:
            return []
        return [_gap_end(wall, zone)]


def _gap_end(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first instant after the gap that holds a wall time: where the zone's offset changes, to the second."""
    late, early = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    low, high = early - timedelta(seconds=1), late
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high


@dataclass(frozen=True, slots=True)
class GridRule:
    """Fires every `every`, counted from 1970-01-01T00:00Z; where the old side counts from elsewhere, its loader says so."""

    every: timedelta

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instants from `start` up to and not including `end`."""
        seconds = int(self.every.total_seconds())
        at = -(-int(start.timestamp()) // seconds) * seconds
        while at < end.timestamp():
            yield datetime.fromtimestamp(at, UTC)
            at += seconds


@dataclass(frozen=True, slots=True)
class OnceRule:
    """Fires at one instant."""

    at: datetime

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instant, if it lies from `start` up to and not including `end`."""
        if start <= self.at < end:
            yield self.at


@dataclass(frozen=True, slots=True)
class UnionRule:
    """Fires when any of its rules does; a moment that two of them name fires once."""

    rules: tuple[OldRule, ...]

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instants from `start` up to and not including `end`, ascending."""
        yield from sorted({at for rule in self.rules for at in rule.between(start, end)})


OldRule = WallRule | GridRule | OnceRule | UnionRule
