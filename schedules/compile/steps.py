"""From a job's `run` or `steps` to the steps of its runs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from activities.contract import HandlerKind, RetryRequest, StepRequest
from schedules.spec.step_faults import retry_of, undo_retry_of
from schedules.spec.steps import needs_of

if TYPE_CHECKING:
    from datetime import timedelta

    from schedules.spec.handlers import HandlerSpec
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
    handler, params = handler_of(job.run)
    return [
        StepRequest(
            name=RUN,
            handler=handler,
            params=params,
            timeout=job.timeout.total_seconds(),
            heartbeat_timeout=job.heartbeat_timeout.total_seconds(),
            retry=_retry(job.retry),
        )
    ]


def handler_of(run: HandlerSpec) -> tuple[HandlerKind, dict[str, Any]]:
    """The handler's kind and its parameters as JSON values, those left out that are empty; an empty JSON body is a body."""
    kinds: tuple[HandlerKind, ...] = get_args(HandlerKind)
    kind = next(kind for kind in kinds if getattr(run, kind) is not None)
    dumped = getattr(run, kind).model_dump(mode="json", by_alias=True)
    return kind, {name: value for name, value in dumped.items() if value or (name == "json" and value is not None)}


def _step(job: JobSpec, step: StepSpec, needs: list[str] | None) -> StepRequest:
    handler, params = handler_of(step)
    timeout, heartbeat = step.timeout or job.timeout, step.heartbeat_timeout or job.heartbeat_timeout
    return StepRequest(
        name=step.name,
        handler=handler,
        params=params,
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
    handler, params = handler_of(undo)
    return StepRequest(
        name=f"{step.name}/{UNDO}",
        handler=handler,
        params=params,
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
