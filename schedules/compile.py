"""From a spec to the schedule that Temporal should have: pure, and the same for the same spec in the same year."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from activities.contract import JOB_WORKFLOW, OWNER_ATTRIBUTE, CatchUpRequest, JobRequest
from schedules import wire
from schedules.calendar_spec import NO_CALENDARS, CalendarSet
from schedules.catch_up import compile_catch_up
from schedules.compile_steps import compile_steps
from schedules.describe import describe_job, schedule_text
from schedules.direct import compile_direct
from schedules.horizon import horizon
from schedules.job_times import job_times
from schedules.model import Action, DesiredSchedule, Policies, Times
from schedules.spec import JobSpec

if TYPE_CHECKING:
    from datetime import datetime

    from schedules.project import Project

SUMMARY_LENGTH = 200


def compile_project(project: Project, now: datetime) -> dict[str, DesiredSchedule]:
    """The schedules of a project by id. Raises CronError."""
    return {
        job.name: compile_job(job, project.name, project.environment, now, project.calendars_of(job.name))
        for job in project.jobs
    }


def compile_job(
    job: JobSpec, project: str, environment: str, now: datetime, calendars: CalendarSet = NO_CALENDARS
) -> DesiredSchedule:
    """The schedule of one job. `now` decides only the year from which the times are exact, for three years.

    Raises CronError where an entry of the schedule cannot be read.
    """
    compiled = job_times(job, project, now, calendars)
    owner = f"{project}/{environment}"
    if job.run and job.run.workflow and job.run.workflow.direct:
        return compile_direct(job, owner, compiled, job.run.workflow, job.run.workflow.direct)
    catch_up = compile_catch_up(job, compiled.times, horizon(now)[0])
    request = compile_request(job, project, environment, compiled.times, catch_up)
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
    job: JobSpec, project: str, environment: str, times: Times, catch_up: CatchUpRequest | None = None
) -> JobRequest:
    """What each run of the job is given."""
    deadline = job.deadline.total_seconds() if job.deadline else None
    return JobRequest(
        project,
        environment,
        job.name,
        wire.to_request(times),
        compile_steps(job),
        deadline,
        catchup=catch_up,
        outcome_attribute=True,
    )


def as_json(request: Any) -> Any:
    """The request as the JSON object that the server keeps; parameters are shared, not copied.

    Fields that are as by default are left out, numbers apart: one that a release adds changes no schedule without it.
    """
    if is_dataclass(request):
        left_out = _defaults(cast("Any", type(request)))
        return {
            name: as_json(value)
            for name, value in vars(request).items()
            if name not in left_out or value != left_out[name]
        }
    return [as_json(item) for item in request] if isinstance(request, list) else request


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    made = {item.name: item.default_factory() for item in fields(kind) if item.default_factory is not MISSING}
    given = {item.name: item.default for item in fields(kind) if item.default is not MISSING}
    shown = {name for name, value in given.items() if isinstance(value, int | float) and value is not False}
    return {name: value for name, value in {**made, **given}.items() if name not in shown}


def _summary(job: JobSpec) -> str:
    return (job.description.strip().splitlines() or [schedule_text(job)])[0][:SUMMARY_LENGTH]
