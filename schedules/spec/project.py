"""A project: the jobs of its files in one environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from schedules.errors import Location, SettingsError
from schedules.spec.calendars import NO_CALENDARS, CalendarSet, CalendarSpec
from schedules.spec.job import SHADOW_DIRECT, JobSpec
from schedules.spec.notices import ChannelSet, ChannelSpec


@dataclass(frozen=True)
class Project:
    """Every job with defaults and environment merged; `sources` says by job where it is written.

    `left_out` are files in the given folders that are no spec files, by their names.
    """

    name: str
    environment: str
    jobs: tuple[JobSpec, ...]
    sources: Mapping[str, Location] = field(default_factory=dict)
    calendars: tuple[CalendarSet, ...] = ()
    channels: tuple[ChannelSet, ...] = ()
    left_out: tuple[str, ...] = ()

    def calendars_of(self, job: str) -> CalendarSet:
        """The calendars of the file that the job is written in."""
        return self._calendars_by_job.get(job, NO_CALENDARS)

    @cached_property
    def _calendars_by_job(self) -> dict[str, CalendarSet]:
        return {job: calendars for calendars in self.calendars for job in calendars.jobs}

    def channels_of(self, job: str) -> Mapping[str, ChannelSpec]:
        """The channels of the file that the job is written in."""
        return self._channels_by_job.get(job, {})

    @cached_property
    def _channels_by_job(self) -> dict[str, Mapping[str, ChannelSpec]]:
        return {job: channels.specs for channels in self.channels for job in channels.jobs}

    @property
    def owner(self) -> str:
        """The mark on every schedule that these specs manage."""
        return f"{self.name}/{self.environment}"


@dataclass(frozen=True)
class JobSet:
    """Jobs written in Python: what `package.module:attribute` may hold.

    The jobs are the same in each environment that is named; without `--env` the environment is `default`.
    """

    project: str
    jobs: Sequence[JobSpec]
    environments: Sequence[str] = ()
    calendars: Mapping[str, CalendarSpec] = field(default_factory=dict)
    channels: Mapping[str, ChannelSpec] = field(default_factory=dict)


def starting(project: Project, at: datetime) -> Project:
    """The project with no run of any job before an instant; a job that begins later by itself keeps its own `start_at`."""
    return replace(project, jobs=tuple(_starting(job, at) for job in project.jobs))


def _starting(job: JobSpec, at: datetime) -> JobSpec:
    own = job.start_at
    if own is not None and (own if own.tzinfo else own.replace(tzinfo=ZoneInfo(job.timezone))) > at:
        return job
    return job.model_copy(update={"start_at": at})


def shadowed(project: Project) -> Project:
    """The project with all its jobs in shadow mode. Raises SettingsError for jobs whose workflow the schedule starts itself."""
    direct = [job.name for job in project.jobs if job.direct]
    if direct:
        raise SettingsError(f"--shadow: {', '.join(direct)}: {SHADOW_DIRECT}")
    return replace(project, jobs=tuple(job.model_copy(update={"mode": "shadow"}) for job in project.jobs))
