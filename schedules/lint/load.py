"""From the command line's paths to a project in which everything that can be checked offline has been, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedules.cron import CronError
from schedules.errors import SPEC, SpecError
from schedules.lint.findings import errors
from schedules.lint.parameters import check_job
from schedules.lint.place import placed
from schedules.source.load import read_project
from schedules.source.locate import Locator
from schedules.source.partial import PartialJob
from schedules.times.job import job_times

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from activities.registry import HandlerRegistry
    from schedules.errors import Problem
    from schedules.source.part import Reading
    from schedules.spec.job import JobSpec
    from schedules.spec.layers import Path
    from schedules.spec.project import Project
    from schedules.times.job import JobTimes


@dataclass(frozen=True)
class CheckedProject:
    """A project, and everything in it that keeps a sync from starting."""

    #: With problems it has only the jobs that can be read and compiled.
    project: Project
    #: What each of these jobs compiles to.
    times: Mapping[str, JobTimes]
    #: In the order of the files, each once.
    problems: tuple[Problem, ...]

    @property
    def unreadable(self) -> tuple[Problem, ...]:
        """The problems that are no findings: what stands there means nothing."""
        return tuple(problem for problem in self.problems if problem.id == SPEC)


def check_project(
    paths: Sequence[str], environment: str | None, registry: HandlerRegistry | None, now: datetime
) -> CheckedProject:
    """Reads, compiles and checks each job once; a fault keeps no other from being found.

    Raises SpecError where nothing can be told, since files are being changed.
    """
    reading = read_project(paths, environment, now)
    check = _Check(reading, registry, now)
    for job in reading.project.jobs:
        check.job(PartialJob(job))
    for partial in reading.partial:
        check.job(partial)
    usable = tuple(job for job in reading.project.jobs if job.name in check.times)
    problems = reading.ordered(dict.fromkeys([*reading.problems, *check.problems]))
    times = {job.name: check.times[job.name] for job in usable}
    return CheckedProject(replace(reading.project, jobs=usable), times, tuple(problems))


def load_checked(
    paths: Sequence[str], environment: str | None, registry: HandlerRegistry | None = None, now: datetime | None = None
) -> Project:
    """The project of the paths. Raises SpecError with every problem of its files and jobs."""
    return load_compiled(paths, environment, registry, now or datetime.now(UTC))[0]


def load_compiled(
    paths: Sequence[str], environment: str | None, registry: HandlerRegistry | None, now: datetime
) -> tuple[Project, Mapping[str, JobTimes]]:
    """The project of the paths and the times of its jobs. Raises SpecError with every problem of its files and jobs."""
    checked = check_project(paths, environment, registry, now)
    if checked.problems:
        raise SpecError(checked.problems)
    return checked.project, checked.times


def load_readable(
    paths: Sequence[str], environment: str | None, registry: HandlerRegistry | None, now: datetime
) -> tuple[Project, Mapping[str, JobTimes]]:
    """As `load_compiled`, whatever lint may find in the times. Raises SpecError."""
    checked = check_project(paths, environment, registry, now)
    if checked.unreadable:
        raise SpecError(checked.problems)
    return checked.project, checked.times


class _Check:
    """The faults of jobs beyond their files: templates, handlers and times."""

    def __init__(self, reading: Reading, registry: HandlerRegistry | None, now: datetime) -> None:
        self.problems: list[Problem] = []
        self.times: dict[str, JobTimes] = {}
        self._project, self._registry, self._now = reading.project, registry, now
        self._locator = Locator(reading.project)
        self._run_ids = {job.name: job.name for job in reading.project.jobs if not job.direct}

    def job(self, partial: PartialJob) -> None:
        """Checks a job as far as it can be read, and keeps its times."""
        job = partial.job
        self._check_run_id(job)
        if partial.has_handlers:
            for path, message in check_job(job, self._registry, ordered=partial.has_order):
                self.problems.append(self._locator.problem(job.name, path, message))
        if not partial.has_times:
            return
        try:
            times = self._times(job)
        except CronError as error:
            self.problems.append(self._locator.problem(job.name, self._entry_at_fault(job), str(error)))
            return
        self.times.setdefault(job.name, times)
        self.problems += placed(errors(job, times), self._locator)

    def _check_run_id(self, job: JobSpec) -> None:
        """Of two runs with one id at one time Temporal starts one, and each job would show the other's runs as its own."""
        if job.direct is None:
            return
        run_id = job.direct.id or job.name
        if (other := self._run_ids.setdefault(run_id, job.name)) != job.name:
            path = ("run", "workflow", "direct", "id") if job.direct.id else ()
            message = f"the ids of its runs begin with `{run_id}`, as those of the job `{other}` do; write another `direct.id`"
            self.problems.append(self._locator.problem(job.name, path, message))

    def _times(self, job: JobSpec) -> JobTimes:
        return job_times(job, self._project.name, self._now, self._project.calendars_of(job.name))

    def _entry_at_fault(self, job: JobSpec) -> Path:
        """The entry that cannot be compiled by itself, or the schedule where each can."""
        for index, entry in enumerate(job.schedule):
            try:
                self._times(job.model_copy(update={"schedule": (entry,)}))
            except CronError:
                return ("schedule", index)
        return ("schedule",)
