"""The requests of a test's runs: as the job's schedule would give them, changed so that the test server can run them. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from temporalio.converter import value_to_type

from activities.contract import JOB_WORKFLOW, JobRequest, StepRequest
from schedules.compile.job import compile_project_job
from worker.testkit.errors import KitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from schedules.spec.job import JobSpec
    from schedules.spec.project import Project


def request_of(
    project: Project, job: JobSpec, scheduled_at: datetime, stood_in: Callable[[StepRequest], bool]
) -> JobRequest:
    """The request as compiled in the year of a scheduled time.

    Nothing counts as late, since the server's clock cannot be set back; all steps run on the kit's own worker; a workflow
    that has a stand-in becomes a step like any other; nobody is notified.
    """
    desired = compile_project_job(project, job, scheduled_at)
    if desired.action.workflow_type != JOB_WORKFLOW:
        raise KitError(
            f"{job.name} starts {desired.action.workflow_type} directly (`direct`); test it with Temporal's own kit"
        )
    request: JobRequest = value_to_type(JobRequest, desired.action.args[0])
    steps = [on_the_kits_worker(step, stood_in) for step in request.steps]
    return replace(request, steps=steps, catchup=None, outcome_attribute=False, alerts=None, start_at="")


def all_steps(request: JobRequest) -> Iterator[StepRequest]:
    """Every step, and what compensates it."""
    for step in request.steps:
        yield step
        if step.compensate:
            yield step.compensate


def on_the_kits_worker(step: StepRequest, stood_in: Callable[[StepRequest], bool]) -> StepRequest:
    """The step as the one worker of a test runs it, a workflow that has a stand-in as an activity."""
    as_activity = step.handler == "workflow" and stood_in(step)
    return replace(
        step,
        handler="python" if as_activity else step.handler,
        task_queue="",
        compensate=on_the_kits_worker(step.compensate, stood_in) if step.compensate else None,
    )
