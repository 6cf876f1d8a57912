"""JobWorkflow: one occurrence of one job, from its scheduled time to its outcome."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    FailureError,
    is_cancelled_exception,
)

with workflow.unsafe.imports_passed_through():
    from activities.contract import (
        BACKSTOP,
        JOB_WORKFLOW,
        RENDER_ARGUMENTS,
        RUN_STEP,
        JobRequest,
        JobResult,
        Outcome,
        StepCall,
        StepRequest,
        StepResult,
    )
    from activities.output import MAX_MESSAGE, bound_output, cut_end, to_json
    from activities.template import strings
    from workflows import policy

SCHEDULED_START = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")


@workflow.defn(name=JOB_WORKFLOW)
class JobWorkflow:
    """Runs the steps of a job in order. The first that does not succeed ends the run.

    A run that succeeds returns its JobResult. One that fails or times out fails with an ApplicationError whose type is the
    outcome and whose first detail is the JobResult; one that is cancelled ends as cancelled. An exception that nobody
    thought of fails the run as well: raised, it would have the server try the same again for ever.
    """

    @workflow.run
    async def run(self, request: JobRequest) -> JobResult:
        """Run every step of the request; see the class for how it ends."""
        run = _Run(request)
        try:
            for step in request.steps:
                run.results.append(await run.step(step))
        except FailureError as error:
            if is_cancelled_exception(error):
                run.finish("cancelled", "cancelled on request")
                raise
            failure = policy.explain_failure(error, step.retry)
            raise run.failed(step, failure) from error
        except Exception as error:
            raise run.failed(step, policy.Failure("failed", f"{type(error).__name__}: {error}", None)) from error
        return run.finish("succeeded")


class _Run:
    """What is known of the occurrence while it runs."""

    def __init__(self, request: JobRequest) -> None:
        info = workflow.info()
        self.request = request
        self.results: list[StepResult] = []
        self.started = workflow.now()
        attribute = info.typed_search_attributes.get(SCHEDULED_START)
        self.scheduled = policy.scheduled_time(info.workflow_id, attribute, info.start_time)

    async def step(self, step: StepRequest) -> StepResult:
        workflow.set_current_details(
            f"Step {step.name} ({step.handler}) of the run scheduled for {self._scheduled_at()}."
        )
        return await (self._child(step) if step.handler == "workflow" else self._activity(step))

    def failed(self, step: StepRequest, failure: policy.Failure) -> ApplicationError:
        """What the run fails with. A reason from a workflow of the user's may be of any length."""
        reason = cut_end(f"step {step.name}: {failure.reason}", MAX_MESSAGE)
        result = self.finish(failure.outcome, reason, failure.attempts)
        return ApplicationError(result.reason, result, type=result.outcome, non_retryable=True)

    def finish(self, outcome: Outcome, reason: str = "", attempts: int | None = 0) -> JobResult:
        result = JobResult(
            outcome=outcome,
            scheduled_at=self._scheduled_at(),
            lateness=(self.started - self.scheduled).total_seconds(),
            duration=(workflow.now() - self.started).total_seconds(),
            attempts=policy.total([attempts, *(done.attempts for done in self.results)]),
            steps=list(self.results),
            reason=reason,
        )
        workflow.set_current_details(outcome + (f": {reason}" if reason else ""))
        return result

    async def _activity(self, step: StepRequest) -> StepResult:
        """Runs the step in an activity; one that a worker's shutdown cut short goes on in another, at no cost to it."""
        drained = policy.Drained()
        while True:
            try:
                return await self._attempts(step, drained)
            except ActivityError as error:
                left = policy.drained(error)
                if left is None:
                    raise
                if workflow.cancellation_reason() is not None:
                    raise CancelledError("cancelled while its worker stopped") from error
                drained = left

    async def _attempts(self, step: StepRequest, drained: policy.Drained) -> StepResult:
        result: StepResult = await workflow.execute_activity(
            RUN_STEP,
            replace(
                self._call(step),
                earlier_attempts=drained.earlier_attempts,
                last_heartbeat=list(drained.last_heartbeat),
            ),
            result_type=StepResult,
            start_to_close_timeout=timedelta(seconds=step.timeout + BACKSTOP),
            schedule_to_close_timeout=self._remaining(),
            heartbeat_timeout=timedelta(seconds=step.heartbeat_timeout),
            retry_policy=policy.retry_policy(step.retry, drained.earlier_attempts),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=step.name,
        )
        return result

    async def _child(self, step: StepRequest) -> StepResult:
        started = workflow.now()
        output: Any = await workflow.execute_child_workflow(
            step.params["type"],
            args=await self._arguments(step),
            id=f"{workflow.info().workflow_id}/{step.name}",
            run_timeout=timedelta(seconds=step.timeout),
            execution_timeout=self._remaining(),
            retry_policy=policy.retry_policy(step.retry),
            cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
            parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
            static_summary=f"{self.request.job}: {step.name}",
        )
        duration = (workflow.now() - started).total_seconds()
        attempts = 1 if step.retry.max_attempts == 1 else None
        return StepResult(step.name, bound_output(_plain(output)), attempts, duration)

    async def _arguments(self, step: StepRequest) -> list[Any]:
        """The child's arguments; a local activity fills templates, since only the worker knows the job's other times."""
        arguments = list(step.params.get("args", ()))
        if not any("{" in text or "}" in text for _, text in strings(arguments)):
            return arguments
        rendered: list[Any] = await workflow.execute_local_activity(
            RENDER_ARGUMENTS,
            self._call(step),
            result_type=list[Any],
            start_to_close_timeout=timedelta(seconds=10),
        )
        return rendered

    def _call(self, step: StepRequest) -> StepCall:
        request = self.request
        return StepCall(
            project=request.project,
            environment=request.environment,
            job=request.job,
            scheduled_at=self._scheduled_at(),
            times=request.times,
            step=step,
            run_id=workflow.info().run_id,
        )

    def _remaining(self) -> timedelta | None:
        """What is left of the run's deadline, counted from its actual start."""
        if self.request.deadline is None:
            return None
        left = self.started + timedelta(seconds=self.request.deadline) - workflow.now()
        return max(left, timedelta(milliseconds=1))

    def _scheduled_at(self) -> str:
        return _format(self.scheduled)


def _plain(output: Any) -> Any:
    """A workflow may return what is no JSON, such as bytes; that is only shown."""
    try:
        return to_json(output)
    except ValueError as error:
        return f"[{error}]"


def _format(time: datetime) -> str:
    return time.strftime(policy.OCCURRENCE_TIME)
