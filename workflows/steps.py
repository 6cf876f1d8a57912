"""Runs one step of an occurrence: as an activity, or as a child where the step is a workflow of the user's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, CancelledError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.contract import (
        BACKSTOP,
        HANDLER_FAILED,
        RENDER_ARGUMENTS,
        RUN_STEP,
        ChildOutput,
        StepCall,
        StepResult,
    )
    from activities.steps.altered import Alterations
    from activities.steps.output import MAX_MESSAGE, bound_output, cut_end, to_json
    from activities.steps.readable import readable, readable_text
    from activities.steps.template import names_used, outputs_used, strings
    from workflows import policy

if TYPE_CHECKING:
    from activities.contract import StepRequest
    from workflows.occurrence import Occurrence


Limit = Callable[[], timedelta | None]
"""What is left of the time for a step with all its attempts; None without end."""


@dataclass(frozen=True)
class Ended:
    """The ending of a step; `error` is what it raised if it did not succeed."""

    result: StepResult
    error: BaseException | None = None


async def end_of(
    occurrence: Occurrence, step: StepRequest, limit: Limit, *, stoppable: Callable[[], bool] = lambda: False
) -> Ended:
    """Runs the step to its end, whatever that is. Only while `stoppable` holds can it be cancelled, or ended by a drain of its worker."""
    began = workflow.now()
    try:
        return Ended(await _run(occurrence, step, limit, stoppable))
    except (FailureError, asyncio.CancelledError) as error:
        raised: BaseException = error
        if is_cancelled_exception(error) and stoppable():
            result = StepResult(step.name, None, None, _since(began), "cancelled", "cancelled on request")
            return Ended(result, error)
        failure = policy.explain_failure(error, step) if isinstance(error, FailureError) else _unforeseen(error)
        if is_cancelled_exception(error):
            failure = policy.Failure("failed", "it was cancelled by itself, and the run was not", failure.attempts)
    except Exception as error:  # noqa: BLE001  raised, it would have the server try the same again for ever
        raised, failure = error, _unforeseen(error)
    reason = cut_end(failure.reason, MAX_MESSAGE)
    return Ended(StepResult(step.name, None, failure.attempts, _since(began), failure.outcome, reason), raised)


async def _run(occurrence: Occurrence, step: StepRequest, limit: Limit, stoppable: Callable[[], bool]) -> StepResult:
    """Runs the step with all its attempts. Raises FailureError when the last of them does not succeed."""
    if step.handler == "workflow":
        return await _child(occurrence, step, limit())
    drained, since = policy.Drained(), workflow.now()
    while True:
        try:
            return await _attempts(occurrence, step, drained, limit())
        except (
            ActivityError
        ) as error:  # One that its worker stopped with, or gave back, goes on in another at no cost to it.
            left = policy.drained(error)
            if left is None or (left.given_back and workflow.now() - since >= policy.give_back_limit(step)):
                raise
            if stoppable():
                raise CancelledError("cancelled while it went on to another worker") from error
            drained = replace(left, given_back=drained.given_back + left.given_back)
            if left.given_back:
                await asyncio.sleep(policy.give_back_pause(drained.given_back))


async def _attempts(
    occurrence: Occurrence, step: StepRequest, drained: policy.Drained, left: timedelta | None
) -> StepResult:
    result: StepResult = await workflow.execute_activity(
        RUN_STEP,
        replace(
            _call(occurrence, step),
            earlier_attempts=drained.earlier_attempts,
            last_heartbeat=list(drained.last_heartbeat),
            given_back=drained.given_back,
        ),
        result_type=StepResult,
        task_queue=step.task_queue or None,
        start_to_close_timeout=timedelta(seconds=step.timeout + BACKSTOP),
        schedule_to_start_timeout=None if step.start_timeout is None else timedelta(seconds=step.start_timeout),
        schedule_to_close_timeout=left,
        heartbeat_timeout=timedelta(seconds=step.heartbeat_timeout),
        retry_policy=policy.retry_policy(step.retry, drained.earlier_attempts),
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=step.name,
    )
    if result.outcome != "succeeded":  # A converter that could not read it says so in this way.
        raise ApplicationError(result.reason, type=HANDLER_FAILED, non_retryable=True)
    return result


async def _child(occurrence: Occurrence, step: StepRequest, left: timedelta | None) -> StepResult:
    started = workflow.now()
    output: Any = await workflow.execute_child_workflow(
        step.params["type"],
        args=await _arguments(occurrence, step),
        result_type=cast("type[Any]", ChildOutput),
        id=f"{workflow.info().workflow_id}/{step.name}",
        run_timeout=timedelta(seconds=step.timeout),
        task_queue=step.task_queue or None,
        execution_timeout=left,
        retry_policy=replace(policy.retry_policy(step.retry), non_retryable_error_types=step.retry.permanent or None),
        cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
        static_summary=f"{occurrence.request.job}: {step.name}",
    )
    attempts = 1 if step.retry.max_attempts == 1 else None
    places = Alterations()
    plain = bound_output(readable(_plain(output), places.too_deep))
    return StepResult(step.name, plain, attempts, _since(started), altered=places.found)


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
    told = step.handler == "python" or "last_success" in names_used(step.params)
    return StepCall(
        project=request.project,
        environment=request.environment,
        job=request.job,
        scheduled_at=occurrence.scheduled_at,
        times=request.times,
        step=step,
        run_id=workflow.info().run_id,
        outputs=_outputs(occurrence, step),
        last_success=occurrence.last_success if told else None,
        rerun=request.rerun,
        altered={result.name: result.altered for result in _used(occurrence, step) if result.altered},
        last_success_unreadable=occurrence.before_unreadable if told and occurrence.last_success is None else "",
    )


def _outputs(occurrence: Occurrence, step: StepRequest) -> dict[str, Any]:
    """The outputs that the step's templates name."""
    return {result.name: result.output for result in policy.bounded(_used(occurrence, step))}


def _used(occurrence: Occurrence, step: StepRequest) -> list[StepResult]:
    found = [occurrence.results.get(name) for name in sorted(outputs_used(step.params))]
    return [result for result in found if result and result.outcome == "succeeded"]


def _since(began: datetime) -> float:
    return (workflow.now() - began).total_seconds()


def _unforeseen(error: BaseException) -> policy.Failure:
    return policy.Failure("failed", readable_text(f"{type(error).__name__}: {error}"), None)


def _plain(output: Any) -> Any:
    """A workflow may return what is no JSON, such as bytes; that is only shown."""
    try:
        return to_json(output)
    except ValueError as error:
        return f"[{error}]"
