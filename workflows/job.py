"""JobWorkflow: one occurrence of one job, from its scheduled time to its outcome."""

from __future__ import annotations

from collections.abc import Iterator

from temporalio import workflow
from temporalio.exceptions import ApplicationError, CancelledError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.contract import (
        CLAIM_ALIVE,
        CLAIM_ENDED,
        JOB_WORKFLOW,
        Claim,
        ClaimEnding,
        JobRequest,
        JobResult,
        Outcome,
    )
    from activities.steps.output import MAX_MESSAGE, cut_end
    from workflows.carry_out import Course
    from workflows.catch_up import OUTCOME, settle_late_start
    from workflows.claimed import ClaimInbox, claimed_step
    from workflows.compensate import compensate
    from workflows.occurrence import Occurrence, is_before_start
    from workflows.reporting import reported
    from workflows.step_order import FAILED, Order
    from workflows.steps import Ended


@workflow.defn(name=JOB_WORKFLOW, sandboxed=False)
class JobWorkflow:
    """Runs the steps of a job in their order, and compensations once the run has failed or been cancelled.

    A run that succeeds returns its JobResult. One that fails or times out fails with an ApplicationError whose type is the
    outcome and whose first detail is the JobResult; one that is cancelled ends as cancelled, unless a compensation fails.
    One that starts late may end at once, without a step, as `superseded`, `too_late` or `skipped`. One of a job in shadow mode
    always ends so, as `shadow`, and so does one for a scheduled time before the job's `start_at`.
    """

    def __init__(self) -> None:
        self._claim = ClaimInbox()

    @workflow.signal(name=CLAIM_ALIVE)
    def claim_alive(self) -> None:
        """Whoever claimed the run is still at work on it."""
        self._claim.signs += 1

    @workflow.signal(name=CLAIM_ENDED)
    def claim_ended(self, ending: ClaimEnding) -> None:
        """The command of the claim has ended; the first such word counts."""
        self._claim.ending = self._claim.ending or ending

    @workflow.run
    async def run(self, request: JobRequest) -> JobResult:
        """Run every step of the request; see the class for how it ends."""
        occurrence = Occurrence(request)
        if request.shadow or await is_before_start(occurrence):
            return _shadowed(occurrence)
        async with reported(occurrence):
            return await (_claimed(occurrence, request.claim, self._claim) if request.claim else _result(occurrence))


async def _result(occurrence: Occurrence) -> JobResult:
    """The result of a run that succeeds, or that is late and does not run. Raises what another ends with."""
    if (settled := await settle_late_start(occurrence)) is not None:
        return settled
    order = Order(occurrence.request.steps)
    course = Course(occurrence, order)
    await course.carry_out()
    if order.succeeded:
        return occurrence.finish("succeeded")
    await compensate(occurrence, order.to_undo)
    if order.stuck and not order.cut_short and course.failed is None:
        reason = f"steps that wait for each other, or for none that there is: {', '.join(order.stuck)}"
        raise _failure(occurrence, "failed", reason, None)
    raise _ending(occurrence, course.failed)


async def _claimed(occurrence: Occurrence, claim: Claim, inbox: ClaimInbox) -> JobResult:
    """The result of a run whose work is done elsewhere. Raises what one ends with that did not succeed."""
    step = await claimed_step(occurrence, claim, inbox)
    if step.outcome == "succeeded":
        return occurrence.finish("succeeded")
    raise _failure(occurrence, "failed", step.reason, None)


def _shadowed(occurrence: Occurrence) -> JobResult:
    """The result of a run that only shows when the job would have run: no handler is called and nobody is told."""
    if occurrence.request.outcome_attribute:
        workflow.upsert_search_attributes([OUTCOME.value_set("shadow")])
    why = "shadow" if occurrence.request.shadow else f"before {occurrence.request.start_at} (start_at)"
    return occurrence.finish("shadow", f"{why}: no step was run")


def _ending(occurrence: Occurrence, failed: Ended | None) -> FailureError:
    """The error with which a run ends that did not succeed: it has been cancelled unless a step had failed before."""
    reason = f"step {failed.result.name}: {failed.result.reason}" if failed else "cancelled on request"
    told = "; ".join(f"step {undo.name}: {undo.reason}" for undo in occurrence.undone if undo.outcome in FAILED)
    if told:
        return _failure(occurrence, "compensation_failed", f"{told}; before that, {reason}", failed)
    if failed is not None:
        outcome: Outcome = "timed_out" if failed.result.outcome == "timed_out" else "failed"
        return _failure(occurrence, outcome, reason, failed)
    occurrence.finish("cancelled", cut_end("; ".join([reason, *_what_became(occurrence)]), MAX_MESSAGE))
    return CancelledError(reason)


def _failure(occurrence: Occurrence, outcome: Outcome, reason: str, failed: Ended | None) -> ApplicationError:
    """A reason from a workflow of the user's may be of any length."""
    result = occurrence.finish(outcome, cut_end(reason, MAX_MESSAGE))
    failure = ApplicationError(result.reason, result, type=result.outcome, non_retryable=True)
    failure.__cause__ = failed.error if failed else None
    return failure


def _what_became(occurrence: Occurrence) -> Iterator[str]:
    """A cancelled run has no result: what else there is to know stands in its details."""
    results = [*occurrence.results.values(), *occurrence.undone]
    yield from (f"step {each.name}: {each.reason}" for each in results if each.outcome in FAILED)
    yield from (f"{each.name} did not run: {each.reason}" for each in occurrence.undone if each.outcome == "skipped")
    if done := [each.name for each in occurrence.undone if each.outcome == "succeeded"]:
        yield f"done: {', '.join(done)}"
