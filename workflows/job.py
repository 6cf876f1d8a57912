"""JobWorkflow: one occurrence of one job, from its scheduled time to its outcome."""

from __future__ import annotations

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.contract import JOB_WORKFLOW, JobRequest, JobResult, StepRequest
    from activities.output import MAX_MESSAGE, cut_end
    from workflows import policy
    from workflows.occurrence import Occurrence
    from workflows.steps import run_step


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
        occurrence = Occurrence(request)
        try:
            for step in request.steps:
                occurrence.results.append(await run_step(occurrence, step))
        except FailureError as error:
            if is_cancelled_exception(error):
                occurrence.finish("cancelled", "cancelled on request")
                raise
            failure = policy.explain_failure(error, step.retry)
            raise _failed(occurrence, step, failure) from error
        except Exception as error:
            failure = policy.Failure("failed", f"{type(error).__name__}: {error}", None)
            raise _failed(occurrence, step, failure) from error
        return occurrence.finish("succeeded")


def _failed(occurrence: Occurrence, step: StepRequest, failure: policy.Failure) -> ApplicationError:
    """What the run fails with. A reason from a workflow of the user's may be of any length."""
    reason = cut_end(f"step {step.name}: {failure.reason}", MAX_MESSAGE)
    result = occurrence.finish(failure.outcome, reason, failure.attempts)
    return ApplicationError(result.reason, result, type=result.outcome, non_retryable=True)
