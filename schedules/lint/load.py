"""From the command line's paths to a project in which everything that can be checked offline has been."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedules.cron import CronError
from schedules.errors import SpecError, SpecProblem
from schedules.lint.findings import errors
from schedules.lint.parameters import check_job
from schedules.source.load import load_project
from schedules.source.locate import Locator
from schedules.times.job import job_times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from activities.registry import HandlerRegistry
    from schedules.spec.job import JobSpec
    from schedules.spec.layers import Path
    from schedules.spec.project import Project
    from schedules.times.job import JobTimes


def load_checked(paths: Sequence[str], environment: str | None, registry: HandlerRegistry | None = None) -> Project:
    """The project of the paths. Raises SpecError with every problem of its files, or else of its jobs."""
    project, times = load_readable(paths, environment, registry, datetime.now(UTC))
    found = list(errors(project, times))
    if found:
        locator = Locator(project)
        raise SpecError([locator.problem(finding.job, finding.path, finding.message) for finding in found])
    return project


def load_readable(
    paths: Sequence[str], environment: str | None, registry: HandlerRegistry | None, now: datetime
) -> tuple[Project, dict[str, JobTimes]]:
    """The project of the paths and the times of its jobs, whatever lint may find in these. Raises SpecError."""
    project = load_project(paths, environment)
    problems, times = list(_problems(project, registry)), {}
    for job in project.jobs:
        try:
            times[job.name] = job_times(job, project.name, now, project.calendars_of(job.name))
        except CronError as error:
            path = _entry_at_fault(job, project, now)
            problems.append(Locator(project).problem(job.name, path, str(error)))
    if problems:
        raise SpecError(problems)
    return project, times


def _problems(project: Project, registry: HandlerRegistry | None) -> Iterator[SpecProblem]:
    locator = Locator(project)
    for job in project.jobs:
        for path, message in check_job(job, registry):
            yield locator.problem(job.name, path, message)


def _entry_at_fault(job: JobSpec, project: Project, now: datetime) -> Path:
    """The entry that cannot be compiled by itself, or the schedule where each can."""
    for index, entry in enumerate(job.schedule):
        try:
            job_times(job.model_copy(update={"schedule": (entry,)}), project.name, now, project.calendars_of(job.name))
        except CronError:
            return ("schedule", index)
    return ("schedule",)
