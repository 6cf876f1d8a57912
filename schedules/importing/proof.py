"""Whether an imported job fires when the old one did: two evaluators that share no code, compared over a year with its clock changes. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from schedules.cron.occurrences import Occurrences, occurrences_of
from schedules.importing.rules import GridRule, OldRule, OnceRule, UnionRule, WallRule
from schedules.spec.job import JobSpec
from schedules.times.job import job_times

YEAR: Final = timedelta(days=370)
"""Longer than a year, so that both clock changes of a zone lie in it wherever it begins."""
MOST: Final = 20_000
AROUND: Final = timedelta(days=2)
SHOWN: Final = 10
STEP: Final = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Difference:
    """One moment at which only one side fires, in UTC. `clock_change` says that a zone's change of clocks lies within a day of it."""

    at: datetime
    side: str  #: `old` or `new`
    clock_change: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """What the comparison found. `compared` counts the old side's moments; `spans` are the stretches that were compared, in UTC."""

    compared: int
    spans: tuple[tuple[datetime, datetime], ...]
    clock_changes: tuple[datetime, ...]
    differences: tuple[Difference, ...]
    more: int  #: differences beyond those shown
    upcoming: tuple[datetime, ...]

    @property
    def equal(self) -> bool:
        """Whether both sides fire at the same moments, all through."""
        return not self.differences

    @property
    def explained(self) -> bool:
        """Whether each difference lies at a change of clocks."""
        return all(each.clock_change for each in self.differences) and not self.more


def prove(rule: OldRule, job: JobSpec, since: datetime) -> Proof:
    """Compares the old meaning with what the job compiles to, for a year from `since`. Raises CronError for what does not compile."""
    since = since.astimezone(UTC).replace(microsecond=0)
    end = since + YEAR
    if isinstance(rule, OnceRule):
        end = max(end, rule.at + timedelta(days=1))
    changes = tuple(_clock_changes(job.timezone, since, end))
    ours = occurrences_of(replace(job_times(job, "imported", since).times, jitter=0))
    spans = _spans(rule, since, end, changes)
    compared, found = _compared(rule, ours, spans, changes)
    if not compared and not found:  # days without any time: none of them says a thing
        spans = ((since, end),)
        compared, found = _compared(rule, ours, spans, changes)
    upcoming = tuple(at for at, _ in zip(rule.between(since, end), range(3), strict=False))
    unexplained = sorted(found, key=lambda each: (each.clock_change, each.at))
    return Proof(compared, spans, changes, tuple(unexplained[:SHOWN]), max(0, len(found) - SHOWN), upcoming)


def _compared(
    rule: OldRule, ours: Occurrences, spans: tuple[tuple[datetime, datetime], ...], changes: tuple[datetime, ...]
) -> tuple[int, list[Difference]]:
    """How many times the old side has within the spans, and those that only one side has."""
    compared, found = 0, list[Difference]()
    for start, stop in spans:
        old, new = set(rule.between(start, stop)), set(ours.between(start, stop))
        compared += len(old)
        for at in sorted(old ^ new):
            near = any(abs(at - change) <= timedelta(days=1) for change in changes)
            found.append(Difference(at, "old" if at in old else "new", near))
    return compared, found


def _spans(
    rule: OldRule, since: datetime, end: datetime, changes: tuple[datetime, ...]
) -> tuple[tuple[datetime, datetime], ...]:
    """The whole year; of a job that runs very often, its first days and those around each change of clocks."""
    if _a_day(rule) * YEAR.days <= MOST:
        return ((since, end),)
    around = [(max(since, each - AROUND), min(end, each + AROUND)) for each in changes]
    return ((since, since + AROUND), *around)


def _a_day(rule: OldRule) -> int:
    match rule:
        case WallRule():
            return len(rule.clock)
        case GridRule():
            return int(timedelta(days=1) / rule.every)
        case UnionRule():
            return sum(map(_a_day, rule.rules))
        case _:
            return 0


def _clock_changes(zone: str, since: datetime, end: datetime) -> Iterator[datetime]:
    """Instants at which the zone's offset differs from that of six hours before."""
    at, info = since, ZoneInfo(zone)
    before = at.astimezone(info).utcoffset()
    while at < end:
        at += STEP
        now = at.astimezone(info).utcoffset()
        if now != before:
            yield at
        before = now


def clocks_matter(rule: OldRule, since: datetime) -> bool:
    """Whether one of its times of day is among those that a change of clocks in its zone skips or repeats within a year."""
    match rule:
        case WallRule():
            info = ZoneInfo(rule.zone)
            spans = [_local_span(at, info) for at in _clock_changes(rule.zone, since, since + YEAR)]
            return any(start <= each < end for start, end in spans for each in rule.clock)
        case UnionRule():
            return any(clocks_matter(each, since) for each in rule.rules)
        case _:
            return False


def _local_span(near: datetime, info: ZoneInfo) -> tuple[time, time]:
    """The times of day that the change of clocks in the six hours before `near` skips or repeats."""
    low, high = near - STEP, near
    before = low.astimezone(info).utcoffset() or timedelta()
    while high - low > timedelta(seconds=1):
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (middle, high) if middle.astimezone(info).utcoffset() == before else (low, middle)
    walls = sorted(((high + before).replace(tzinfo=None), high.astimezone(info).replace(tzinfo=None)))
    return walls[0].time(), walls[1].time()
