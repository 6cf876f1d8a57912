"""From a spec to the schedule that Temporal should have: pure, and the same for the same spec in the same year."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from activities.contract import JOB_WORKFLOW, OWNER_ATTRIBUTE, CatchUpRequest, JobRequest
from activities.occurrence import stamp
from schedules.compile.catch_up import compile_catch_up
from schedules.compile.direct import compile_direct
from schedules.compile.notices import compile_alerts
from schedules.compile.steps import compile_steps
from schedules.compile.watchdog import compile_watchdogs
from schedules.model import Action, DesiredSchedule, Policies, Times
from schedules.spec.calendars import NO_CALENDARS, CalendarSet
from schedules.spec.describe import describe_job, schedule_text
from schedules.spec.job import JobSpec
from schedules.text.as_json import as_json
from schedules.times import wire
from schedules.times.horizon import horizon
from schedules.times.job import job_times

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from schedules.spec.notices import ChannelSpec
    from schedules.spec.project import Project
    from schedules.times.job import JobTimes

SUMMARY_LENGTH = 200
NO_CHANNELS: Mapping[str, ChannelSpec] = MappingProxyType({})
NOTHING_COMPILED: Mapping[str, JobTimes] = MappingProxyType({})


def compile_project(
    project: Project, now: datetime, times_of: Mapping[str, JobTimes] = NOTHING_COMPILED
) -> dict[str, DesiredSchedule]:
    """The schedules of a project by id, its watchdogs last. Raises CronError.

    `times_of` is what jobs compile to by name, where that was done before, at the same `now`.
    """
    desired = {job.name: compile_project_job(project, job, now, times_of.get(job.name)) for job in project.jobs}
    times = {name: schedule.times for name, schedule in desired.items()}
    return desired | {watchdog.id: watchdog for watchdog in compile_watchdogs(project, times)}


def compile_project_job(
    project: Project, job: JobSpec, now: datetime, compiled: JobTimes | None = None
) -> DesiredSchedule:
    """The schedule of one job of a project, with the calendars and channels of its file. Raises CronError."""
    calendars, channels = project.calendars_of(job.name), project.channels_of(job.name)
    return compile_job(job, project.name, project.environment, now, calendars, channels, compiled)


def compile_job(
    job: JobSpec,
    project: str,
    environment: str,
    now: datetime,
    calendars: CalendarSet = NO_CALENDARS,
    channels: Mapping[str, ChannelSpec] = NO_CHANNELS,
    compiled: JobTimes | None = None,
) -> DesiredSchedule:
    """The schedule of one job. `now` decides only the year from which the times are exact, for three years.

    `compiled` are its times, where they are known.

    Raises CronError where an entry of the schedule cannot be read.
    """
    compiled = compiled or job_times(job, project, now, calendars)
    owner = f"{project}/{environment}"
    if job.run and job.run.workflow and job.direct:
        return compile_direct(job, owner, compiled, job.run.workflow, job.direct)
    catch_up = compile_catch_up(job, compiled.times, horizon(now)[0])
    request = compile_request(job, project, environment, compiled.times, catch_up, channels)
    return DesiredSchedule(
        id=job.name,
        owner=owner,
        times=compiled.times,
        action=Action(
            workflow_type=JOB_WORKFLOW,
            task_queue=job.task_queue,
            args=(as_json(request),),
            search_attributes={OWNER_ATTRIBUTE: owner},
            summary=_summary(job),
            details=describe_job(job, owner),
        ),
        policies=Policies(job.overlap, int(catch_up.window)),
        paused=job.paused,
        exact_until=compiled.exact_until,
        left_out=compiled.left_out,
    )


def compile_request(
    job: JobSpec,
    project: str,
    environment: str,
    times: Times,
    catch_up: CatchUpRequest | None = None,
    channels: Mapping[str, ChannelSpec] = NO_CHANNELS,
) -> JobRequest:
    """What each run of the job is given."""
    deadline, shadow = job.deadline.total_seconds() if job.deadline else None, job.mode == "shadow"
    return JobRequest(
        project,
        environment,
        job.name,
        wire.to_request(times),
        compile_steps(job),
        deadline,
        catchup=catch_up,
        outcome_attribute=True,
        alerts=None if shadow else compile_alerts(job, channels),
        shadow=shadow,
        start_at=stamp(times.start_at) if times.start_at else "",
    )


def _summary(job: JobSpec) -> str:
    return (job.description.strip().splitlines() or [schedule_text(job)])[0][:SUMMARY_LENGTH]
