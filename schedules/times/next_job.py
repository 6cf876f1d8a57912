"""The subject of `next JOB`: a job of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.cron.compiled import Policy
from schedules.errors import SettingsError
from schedules.spec.describe import schedule_text
from schedules.spec.entries import CronEntry
from schedules.text.duration import format_duration
from schedules.text.nearest import suggestion
from schedules.times.asked import Asked, CronText
from schedules.times.job import job_times

if TYPE_CHECKING:
    from datetime import datetime

    from schedules.model import Times
    from schedules.spec.project import Project
    from schedules.times.job import JobTimes


def asked_job(project: Project, name: str) -> Asked:
    """A job by its name. Raises SettingsError with near misses."""
    job = next((job for job in project.jobs if job.name == name), None)
    if job is None:
        names = [job.name for job in project.jobs]
        raise SettingsError(f"{project.owner} has no job `{name}`; {suggestion(name, names, 'jobs')}")

    def compiled(since: datetime) -> JobTimes:
        return job_times(job, project.name, since, project.calendars_of(name))

    def compile_at(since: datetime) -> tuple[Times, datetime | None]:
        found = compiled(since)
        return found.times, found.exact_until

    return Asked(
        label=schedule_text(job),
        timezone=job.timezone,
        policy=Policy(job.dst.gap, job.dst.repeat),
        crons=tuple(
            CronText(entry.cron, entry.dialect, f"{project.name}/{name}")
            for entry in job.schedule
            if isinstance(entry, CronEntry)
        ),
        compile_at=compile_at,
        left_out=lambda since: compiled(since).left_out,
        by_calendar=bool(job.only or job.without),
        notes=(f"each may start up to {format_duration(job.jitter)} later (jitter)",) if job.jitter else (),
    )
