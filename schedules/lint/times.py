"""Findings about when one job runs: never, no more, rarely, more often than it can, by intervals that drift."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from activities.steps.graph import ancestors, needs_of
from schedules.compile.steps import compile_steps
from schedules.cron import Occurrences
from schedules.cron.compile import compile_pattern
from schedules.cron.compiled import Policy
from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR
from schedules.cron.pattern import Every, Pattern
from schedules.cron.reboot import has_mark
from schedules.lint.finding import Finding
from schedules.model import Times
from schedules.spec.entries import AtEntry, CronEntry, EveryEntry
from schedules.text.duration import format_duration
from schedules.times.entries import parse_cached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.spec.entries import ScheduleEntry
    from schedules.spec.job import JobSpec
    from schedules.times.job import JobTimes

BEGIN = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
RARELY = timedelta(days=5 * 365 + 2)
LOOKED_AT = 12
MOST_LOOKED_AT = 3_000
YEAR = timedelta(days=366)
DAY = timedelta(days=1)


def never_fires(job: JobSpec, found: JobTimes) -> Iterator[Finding]:
    """An error: a schedule without any time, past or future."""
    if Occurrences(found.times).next_after(BEGIN) is not None:
        return
    if has_mark(found.times):
        return
    causes = [_dead(job, entry) for entry in job.schedule]
    if all(causes):
        cause = causes[0]
    elif Occurrences(replace(found.times, start_at=None)).next_after(BEGIN) is not None:
        cause = "all its times lie before `start_at`"
    elif any(_may_come(entry, found) for entry in job.schedule):
        return
    else:
        cause = "`only` and `except` leave no day"
    yield Finding("never-fires", f"never fires: {cause}; correct it, or remove the job", ("schedule",), job.name)


def _dead(job: JobSpec, entry: ScheduleEntry) -> str:
    """The reason for which an entry has no time on any day, whatever calendars say; empty where it has one."""
    parsed = parse_cached(entry.cron, entry.dialect, "") if isinstance(entry, CronEntry) else None
    if not isinstance(parsed, Pattern):
        return ""
    if parsed.years is not None and not parsed.years:
        return f"the server supports only the years {FIRST_YEAR} to {LAST_YEAR}"
    made = compile_pattern(parsed, "", timezone=job.timezone, policy=Policy(), years=(FIRST_YEAR, FIRST_YEAR))
    fires = Occurrences(Times(made.timezone, made.calendars, made.intervals)).next_after(BEGIN)
    return "no such date exists" if fires is None else ""


def _may_come(entry: ScheduleEntry, found: JobTimes) -> bool:
    """Whether days that are not known yet may give the entry a time."""
    known = found.calendars_until
    return known is not None and not (isinstance(entry, AtEntry) and entry.at.year < known.year)


def times_findings(job: JobSpec, found: JobTimes, now: datetime) -> Iterator[Finding]:
    """All but `never-fires`, as seen at an aware instant."""
    times = found.times
    following = list(islice(Occurrences(times).between(now, datetime.max.replace(tzinfo=UTC)), LOOKED_AT))
    if not following:
        yield from _ended(job, times, now)
        yield from _beyond(job, found)
        return
    yield from _rarely(job, times, now, following)
    yield from _too_fast(job, times, now, following)
    for index, entry in enumerate(job.schedule):
        yield from _drift(job, entry, ("schedule", index))
        if len(job.schedule) > 1 and (cause := _dead(job, entry)):
            message = f"never fires: {cause}; correct it, or remove it"
            yield Finding("dead-entry", message, ("schedule", index, "cron"), job.name)


def _beyond(job: JobSpec, found: JobTimes) -> Iterator[Finding]:
    if (
        found.calendars_until is not None
        and Occurrences(found.times).next_after(BEGIN) is None
        and next(never_fires(job, found), None) is None
    ):
        day = f"{found.calendars_until.astimezone(ZoneInfo(found.times.timezone)):%Y-%m-%d}"
        message = f"it has no time before {day}, until when days are worked out; a sync in a later year may add some. Is that intended?"
        yield Finding("beyond-horizon", message, ("schedule",), job.name)


def _ended(job: JobSpec, times: Times, now: datetime) -> Iterator[Finding]:
    last = Occurrences(times).previous_before(now)
    if last is not None:
        yield Finding(
            "ended", f"it does not run any more: its last time was {stamp(last)}; remove it", ("schedule",), job.name
        )


def _rarely(job: JobSpec, times: Times, now: datetime, following: list[datetime]) -> Iterator[Finding]:
    if all(isinstance(entry, AtEntry) for entry in job.schedule) or times.end_at is not None:
        return
    pause = max(after - before for before, after in pairwise([now, *following[:2]]))
    if pause > RARELY or len(following) == 1:
        dates = " and ".join(f"{each:%Y-%m-%d}" for each in following[:2])
        yield Finding(
            "fires-rarely",
            f"fires less than once in five years: next on {dates}. Is that intended?",
            ("schedule",),
            job.name,
        )


def _too_fast(job: JobSpec, times: Times, now: datetime, following: list[datetime]) -> Iterator[Finding]:
    if len(job.schedule) > 1:  # entries may come close to each other on few days
        following = list(islice(Occurrences(times).between(now, now + YEAR), MOST_LOOKED_AT)) or following
    shortest = min((after - before for before, after in pairwise(following)), default=None)
    longest, what, path = _longest(job)
    if job.overlap == "skip" and shortest is not None and longest is not None and shortest < longest:
        message = (
            f"{what} may take {format_duration(longest)}, but it runs every {format_duration(shortest)}: with "
            f"overlap skip, times are left out while a run is in progress; shorten {path[-1]}, or choose another overlap"
        )
        yield Finding("faster-than-timeout", message, path, job.name)


def _longest(job: JobSpec) -> tuple[timedelta | None, str, tuple[str, ...]]:
    """The longest duration of a run, its name in messages, and the key that sets it; a workflow started directly has its own limits."""
    if job.run is None:
        return longest_time(job), "a run without further attempts", ("steps",)
    if (direct := job.direct) is None:
        return job.timeout, "one attempt", ("timeout",)
    given = {"run_timeout": direct.run_timeout, "execution_timeout": direct.execution_timeout}
    limit, name = min(((value, name) for name, value in given.items() if value), default=(None, "run_timeout"))
    return limit, "one run", ("run", "workflow", "direct", name)


def longest_time(job: JobSpec) -> timedelta:
    """The longest duration of a run in which every step is tried once: the longest way through the steps, within the deadline."""
    if job.run:
        return job.timeout
    steps = compile_steps(job)
    needs, ends = needs_of(steps), {step.name: 0.0 for step in steps}
    for step in sorted(steps, key=lambda step: len(ancestors(step.name, needs))):
        ends[step.name] = step.timeout + max((ends[need] for need in needs[step.name]), default=0.0)
    longest = timedelta(seconds=max(ends.values()))
    return longest if job.deadline is None else min(longest, job.deadline)


def _drift(job: JobSpec, entry: ScheduleEntry, path: tuple[str, int]) -> Iterator[Finding]:
    every = _distance(entry)
    if every is not None and every % DAY and DAY % every:
        text = format_duration(every)
        yield Finding(
            "interval-drift",
            f"{text} does not divide a day, so the times of day change from day to day; choose a distance that does, or cron",
            (*path, "every" if isinstance(entry, EveryEntry) else "cron"),
            job.name,
        )


def _distance(entry: ScheduleEntry) -> timedelta | None:
    if isinstance(entry, EveryEntry):
        return entry.every
    parsed = parse_cached(entry.cron, entry.dialect, "") if isinstance(entry, CronEntry) else None
    return timedelta(seconds=parsed.seconds) if isinstance(parsed, Every) else None
