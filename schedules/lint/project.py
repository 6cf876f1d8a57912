"""Findings about all jobs of a project together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from schedules.compile.watchdog import own_queues, watched_jobs, watching_queue
from schedules.lint.finding import Finding
from schedules.lint.starts import count_starts
from schedules.text.duration import format_duration
from schedules.text.shown import some_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schedules.lint.starts import Starts
    from schedules.spec.project import Project
    from schedules.times.job import JobTimes

MOST_LISTED = 5
SHORTEST_QUIET = 30
"""Minutes; what is shorter is no window to do anything in."""
WEEK = (("weekdays", range(5)), ("weekends", range(5, 7)))


def project_findings(
    project: Project, times: Mapping[str, JobTimes], now: datetime, *, limit: float, quiet: bool
) -> Iterator[Finding]:
    """`limit` is starts a second; with `quiet`, the hours at which nothing starts are told as well."""
    yield from _unused(project)
    yield from _watched_from_own_queue(project)
    counted = [job.name for job in project.jobs if "crowded" not in job.lint.ignore and not job.paused]
    starts = count_starts((times[name].times for name in counted), now)
    yield from _crowded(starts, limit)
    if quiet:
        yield from _quiet(count_starts((each.times for each in times.values()), now))
    yield from _horizons(times)


def _unused(project: Project) -> Iterator[Finding]:
    for calendars in project.calendars:
        used = {name for spec in calendars.specs.values() for name in spec.without}
        used |= {name for job in project.jobs if job.name in calendars.jobs for name in (*job.only, *job.without)}
        for name in calendars.specs.keys() - used:
            message = "no job and no calendar uses it; remove it, or use it in `only` or `except`"
            yield Finding("calendar-unused", message, ("calendars", name), file=calendars.file)


def _watched_from_own_queue(project: Project) -> Iterator[Finding]:
    """Once for each queue, since what mends it is the same for all its jobs."""
    queues = own_queues(project.jobs)
    blind: dict[str, list[str]] = {}
    for job in watched_jobs(project.jobs):
        if watching_queue(job, queues) == job.task_queue and "watchdog-on-own-queue" not in job.lint.ignore:
            blind.setdefault(job.task_queue, []).append(job.name)
    for queue, names in blind.items():
        yield Finding(
            "watchdog-on-own-queue",
            f"`on_missed` of {some_of(names, MOST_LISTED)} is watched from the task queue `{queue}` that the jobs run on: "
            "if all its workers are away, no notice is sent; name another queue with workers in `on_missed: {task_queue: …}`, "
            "or run `tickwright monitor` with its alert rules, or let an outside monitor wait for a `ping`",
        )


def _crowded(starts: Starts, limit: float) -> Iterator[Finding]:
    crowded = starts.crowded(limit)
    by_clock: dict[str, list[int]] = {}
    for minute, most in crowded.items():
        by_clock.setdefault(f"{datetime.fromtimestamp(minute, UTC):%H:%M}", []).append(most)
    if not by_clock:
        return
    worst_first = sorted(by_clock.items(), key=lambda item: -max(item[1]))
    listed = ", ".join(
        f"{clock} UTC ({max(counts)} in a second, on {len(counts)} of {starts.days} days)"
        for clock, counts in worst_first[:MOST_LISTED]
    )
    more = f" and {len(by_clock) - MOST_LISTED} more minutes" if len(by_clock) > MOST_LISTED else ""
    wait = format_duration(timedelta(seconds=-(-max(crowded.values()) // limit)))
    yield Finding(
        "crowded",
        f"more than {limit:g} starts in a second at {listed}{more}: the namespace delays the rest; write H for the minute "
        f"of jobs that need no exact minute, or a jitter of at least {wait}",
    )


def _quiet(starts: Starts) -> Iterator[Finding]:
    for word, weekdays in WEEK:
        for begin, end in list(starts.quiet(weekdays))[:MOST_LISTED]:
            if end - begin >= SHORTEST_QUIET:
                message = f"nothing starts between {_clock(begin)} and {_clock(end)} UTC on {word}"
                yield Finding("quiet-window", message)


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def _horizons(times: Mapping[str, JobTimes]) -> Iterator[Finding]:
    clocks = _earliest(each.clocks_until for each in times.values() if not each.left_out)
    if clocks:
        message = "clock changes are worked out until {}, for {}; a sync in a later year extends that"
        yield Finding("dst-horizon", message.format(*clocks))
    calendars = _earliest(each.calendars_until for each in times.values())
    if calendars:
        message = "holidays and dates are worked out until {}, for {}; a sync in a later year extends that"
        yield Finding("calendar-horizon", message.format(*calendars))


def _earliest(ends: Iterable[datetime | None]) -> tuple[str, str] | None:
    known = [end for end in ends if end is not None]
    return (f"{min(known):%Y-%m-%d}", f"{len(known)} job{'' if len(known) == 1 else 's'}") if known else None
