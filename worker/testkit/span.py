"""Which occurrences a test is about: the job, and its scheduled times in a span. Pure but for reading the spec files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from schedules.lint.load import load_checked
from schedules.spec.job import JobSpec
from schedules.spec.project import Project
from schedules.text.nearest import suggestion
from schedules.times.next_job import asked_job
from schedules.times.upcoming import upcoming
from worker.testkit.errors import KitError
from worker.testkit.moments import Moment, end_of_day, instant, shown

MOST = 10_000
Specs = str | Path | JobSpec | Sequence[str | Path]
"""Paths as the commands take them (files, folders, `package.module:attribute`), or a job itself."""


@dataclass(frozen=True)
class Span:
    """The job and its scheduled times (UTC) in a span; `following` is the one after them, None where there is none."""

    project: Project
    job: JobSpec
    times: tuple[datetime, ...]
    following: datetime | None

    @property
    def zone(self) -> ZoneInfo:
        """The job's."""
        return ZoneInfo(self.job.timezone)

    @property
    def local_times(self) -> list[datetime]:
        """The scheduled times in the job's zone."""
        return [each.astimezone(self.zone) for each in self.times]


def find_span(specs: Specs, job: str | None, env: str | None, start: Moment, end: Moment | None) -> Span:
    """The occurrences from `start` (included) to `end` (not included; else the end of the day of `start`).

    Raises SpecError for specs that are wrong, KitError for a job or a span that is not there.
    """
    project = _project(specs, env)
    found = _job(project, job)
    zone = ZoneInfo(found.timezone)
    since = instant(start, zone)
    until = end_of_day(start, zone) if end is None else instant(end, zone)
    times = _times(project, found, since, until)
    inside = tuple(each for each in times if each < until)
    if not inside:
        then = f"; the next one is {shown(times[0].astimezone(zone))}" if times else ""
        raise KitError(
            f"{found.name} has nothing scheduled from {shown(since.astimezone(zone))} to {shown(until.astimezone(zone))}{then}"
        )
    return Span(project, found, inside, times[len(inside)] if len(times) > len(inside) else None)


def _project(specs: Specs, env: str | None) -> Project:
    if isinstance(specs, JobSpec):
        return Project("test", env or "default", (specs,))
    paths = [specs] if isinstance(specs, str | Path) else list(specs)
    return load_checked([str(path) for path in paths], env)


def _job(project: Project, name: str | None) -> JobSpec:
    names = [job.name for job in project.jobs]
    if name is None and len(names) == 1:
        return project.jobs[0]
    if name is None:
        raise KitError(f"which job? {suggestion('', names, 'jobs')}; say it with job=…")
    found = next((job for job in project.jobs if job.name == name), None)
    if found is None:
        raise KitError(f"{project.owner} has no job `{name}`; {suggestion(name, names, 'jobs')}")
    return found


def _times(project: Project, job: JobSpec, since: datetime, until: datetime) -> list[datetime]:
    """Those before `until`, and the one after."""
    found: list[datetime] = []
    for each in islice(upcoming(asked_job(project, job.name).compile_at, since - timedelta(microseconds=1)), MOST + 1):
        found.append(each)
        if each >= until:
            return found
    if len(found) > MOST:
        raise KitError(
            f"{job.name} has more than {MOST:,} occurrences from {since:%F} to {until:%F}; take a shorter span"
        )
    return found
