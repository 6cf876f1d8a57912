"""Runs one step of an occurrence: as an activity, or as a child where the step is a workflow of the user's."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, CancelledError

with workflow.unsafe.imports_passed_through():
    from activities.contract import BACKSTOP, RENDER_ARGUMENTS, RUN_STEP, StepCall, StepResult
    from activities.output import bound_output, to_json
    from activities.template import strings
    from workflows import policy

if TYPE_CHECKING:
    from activities.contract import StepRequest
    from workflows.occurrence import Occurrence


async def run_step(occurrence: Occurrence, step: StepRequest) -> StepResult:
    """Runs the step with all its attempts. Raises FailureError when the last of them does not succeed."""
    workflow.set_current_details(
        f"Step {step.name} ({step.handler}) of the run scheduled for {occurrence.scheduled_at}."
    )
    return await (_child(occurrence, step) if step.handler == "workflow" else _activity(occurrence, step))


async def _activity(occurrence: Occurrence, step: StepRequest) -> StepResult:
    """Runs the step in an activity; one that a worker's shutdown cut short goes on in another, at no cost to it."""
    drained = policy.Drained()
    while True:
        try:
            return await _attempts(occurrence, step, drained)
        except ActivityError as error:
            left = policy.drained(error)
            if left is None:
                raise
            if workflow.cancellation_reason() is not None:
                raise CancelledError("cancelled while its worker stopped") from error
            drained = left


async def _attempts(occurrence: Occurrence, step: StepRequest, drained: policy.Drained) -> StepResult:
    result: StepResult = await workflow.execute_activity(
        RUN_STEP,
        replace(
            _call(occurrence, step),
            earlier_attempts=drained.earlier_attempts,
            last_heartbeat=list(drained.last_heartbeat),
        ),
        result_type=StepResult,
        start_to_close_timeout=timedelta(seconds=step.timeout + BACKSTOP),
        schedule_to_close_timeout=_remaining(occurrence),
        heartbeat_timeout=timedelta(seconds=step.heartbeat_timeout),
        retry_policy=policy.retry_policy(step.retry, drained.earlier_attempts),
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=step.name,
    )
    return result


async def _child(occurrence: Occurrence, step: StepRequest) -> StepResult:
    started = workflow.now()
    output: Any = await workflow.execute_child_workflow(
        step.params["type"],
        args=await _arguments(occurrence, step),
        id=f"{workflow.info().workflow_id}/{step.name}",
        run_timeout=timedelta(seconds=step.timeout),
        execution_timeout=_remaining(occurrence),
        retry_policy=policy.retry_policy(step.retry),
        cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
        static_summary=f"{occurrence.request.job}: {step.name}",
    )
    duration = (workflow.now() - started).total_seconds()
    attempts = 1 if step.retry.max_attempts == 1 else None
    return StepResult(step.name, bound_output(_plain(output)), attempts, duration)


async def _arguments(occurrence: Occurrence, step: StepRequest) -> list[Any]:
    """The child's arguments; a local activity fills templates, since only the worker knows the job's other times."""
    arguments = list(step.params.get("args", ()))
    if not any("{" in text or "}" in text for _, text in strings(arguments)):
        return arguments
    rendered: list[Any] = await workflow.execute_local_activity(
        RENDER_ARGUMENTS,
        _call(occurrence, step),
        result_type=list[Any],
        start_to_close_timeout=timedelta(seconds=10),
    )
    return rendered


def _call(occurrence: Occurrence, step: StepRequest) -> StepCall:
    request = occurrence.request
    return StepCall(
        project=request.project,
        environment=request.environment,
        job=request.job,
        scheduled_at=occurrence.scheduled_at,
        times=request.times,
        step=step,
        run_id=workflow.info().run_id,
    )


def _remaining(occurrence: Occurrence) -> timedelta | None:
    """What is left of the run's deadline, counted from its actual start."""
    if occurrence.request.deadline is None:
        return None
    left = occurrence.started + timedelta(seconds=occurrence.request.deadline) - workflow.now()
    return max(left, timedelta(milliseconds=1))


def _plain(output: Any) -> Any:
    """A workflow may return what is no JSON, such as bytes; that is only shown."""
    try:
        return to_json(output)
    except ValueError as error:
        return f"[{error}]"
