"""From a job's `run` or `steps` to the steps of its runs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.contract import RetryRequest, StepRequest
from schedules.spec.step_faults import retry_of, undo_retry_of
from schedules.spec.steps import needs_of

if TYPE_CHECKING:
    from datetime import timedelta

    from schedules.spec.job import JobSpec
    from schedules.spec.retry import RetrySpec
    from schedules.spec.steps import CompensateSpec, StepSpec

RUN = "run"
"""The name of the one step of a job that has `run`."""
UNDO = "undo"
"""What the name of a compensation ends in: `post/undo`."""


def compile_steps(job: JobSpec) -> list[StepRequest]:
    """Every step with its limits, its own or the job's."""
    if job.run is None:
        needs = needs_of(job.steps)
        return [_step(job, step, needed) for step, needed in zip(job.steps, needs, strict=True)]
    return [
        StepRequest(
            name=RUN,
            handler=job.run.kind,
            params=job.run.handler.step_params(),
            timeout=job.timeout.total_seconds(),
            heartbeat_timeout=job.heartbeat_timeout.total_seconds(),
            retry=_retry(job.retry),
        )
    ]


def _step(job: JobSpec, step: StepSpec, needs: list[str] | None) -> StepRequest:
    timeout, heartbeat = step.timeout or job.timeout, step.heartbeat_timeout or job.heartbeat_timeout
    return StepRequest(
        name=step.name,
        handler=step.kind,
        params=step.handler.step_params(),
        timeout=timeout.total_seconds(),
        heartbeat_timeout=heartbeat.total_seconds(),
        retry=_retry(retry_of(job, step)),
        needs=needs,
        when=step.when,
        compensate=_undo(step, step.compensate, timeout, heartbeat) if step.compensate else None,
        task_queue=step.task_queue or "",
        start_timeout=step.start_timeout.total_seconds() if step.start_timeout else None,
    )


def _undo(step: StepSpec, undo: CompensateSpec, timeout: timedelta, heartbeat: timedelta) -> StepRequest:
    return StepRequest(
        name=f"{step.name}/{UNDO}",
        handler=undo.kind,
        params=undo.handler.step_params(),
        timeout=(undo.timeout or timeout).total_seconds(),
        heartbeat_timeout=heartbeat.total_seconds(),
        retry=_retry(undo_retry_of(undo)),
        task_queue=undo.task_queue or step.task_queue or "",
    )


def _retry(retry: RetrySpec) -> RetryRequest:
    return RetryRequest(
        retry.max_attempts,
        retry.backoff,
        retry.initial.total_seconds(),
        retry.max.total_seconds(),
        list(retry.permanent_errors),
    )
