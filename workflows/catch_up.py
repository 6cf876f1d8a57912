"""Late starts: a run that starts late asks for a decision, and stands back for newer occurrences where it must."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import (
    RetryPolicy,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    ChildWorkflowError,
    FailureError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)

with workflow.unsafe.imports_passed_through():
    from activities.contract import (
        DECIDE_LATE_START,
        JOB_WORKFLOW,
        OUTCOME_ATTRIBUTE,
        OWNER_ATTRIBUTE,
        Handover,
        JobResult,
        LateStart,
        LateVerdict,
        NotRun,
    )
    from activities.late.decision import RUN, instant, is_too_late, too_late
    from activities.occurrence import occurrence_id, stamp
    from workflows.occurrence import SCHEDULED_START

if TYPE_CHECKING:
    from datetime import datetime

    from activities.contract import CatchUpRequest, JobRequest, LastSuccess, Repeat
    from workflows.occurrence import Occurrence

SCHEDULED_BY = SearchAttributeKey.for_keyword("TemporalScheduledById")
OWNER = SearchAttributeKey.for_keyword(OWNER_ATTRIBUTE)
ATTEMPTS = 6
"""Of the decision: half a minute in which the server may be too busy to be asked."""
LATE_IN_TURN = "late-in-turn"
"""The patch by which a run that a late one has started asks as well what is to become of it."""
OUTCOME = SearchAttributeKey.for_keyword(OUTCOME_ATTRIBUTE)


async def settle_late_start(occurrence: Occurrence) -> JobResult | None:
    """The result of a run that is late and does not run; None for one that runs. A run that is on time leaves no trace of this.

    Raises FailureError when the run is cancelled meanwhile, and for what nobody thought of.
    """
    rule = _rule(occurrence)
    if rule is None:
        return None
    try:
        verdict = await _ask(occurrence, rule)
        occurrence.not_run = verdict.not_run
        if verdict.repeat:
            occurrence.request = repeated(occurrence.request, verdict.repeat)
        return None if verdict.run else await _stand_back(occurrence, rule, verdict)
    except FailureError as error:
        if is_cancelled_exception(error):
            occurrence.finish("cancelled", "cancelled on request")
        raise
    except Exception as error:
        raise ApplicationError(
            f"late start: {type(error).__name__}: {error}", type="failed", non_retryable=True
        ) from error


def repeated(request: JobRequest, repeat: Repeat) -> JobRequest:
    """The request of a run that repeats another on purpose."""
    steps = [replace(step, params=repeat.params.get(step.name, step.params)) for step in request.steps]
    return replace(request, steps=steps, rerun=repeat.rerun)


def _rule(occurrence: Occurrence) -> CatchUpRequest | None:
    """None where there is nothing to decide: on time, or started by hand without a schedule.

    A run that a late one has started in its stead is on time if a worker takes it at once.
    """
    request = occurrence.request
    if request.catchup is None or not _schedule():
        return None
    due = occurrence.scheduled if request.handover is None else workflow.info().workflow_start_time
    if (occurrence.started - due).total_seconds() <= request.catchup.late_after:
        return None
    return request.catchup if request.handover is None or workflow.patched(LATE_IN_TURN) else None


def _schedule() -> str:
    return workflow.info().typed_search_attributes.get(SCHEDULED_BY) or ""


async def _ask(occurrence: Occurrence, rule: CatchUpRequest) -> LateVerdict:
    """Decided by a local activity: only the worker can reach the server and knows the job's other times.

    Where that fails each time (a server that is too busy, a worker of another version), the run goes on: better late than lost.
    """
    info = workflow.info()
    late = LateStart(
        job=occurrence.request.job,
        schedule=_schedule(),
        workflow_id=info.workflow_id,
        run_id=info.run_id,
        scheduled_at=occurrence.scheduled_at,
        started_at=info.workflow_start_time.isoformat(),
        first_task_at=occurrence.started.isoformat(),
        times=occurrence.request.times,
        catchup=rule,
        caught_up_to=occurrence.caught_up_to,
        in_turn=occurrence.request.handover is not None,
    )
    try:
        verdict: LateVerdict = await workflow.execute_local_activity(
            DECIDE_LATE_START,
            late,
            result_type=LateVerdict,
            start_to_close_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(maximum_attempts=ATTEMPTS, maximum_interval=timedelta(seconds=10)),
        )
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        by = occurrence.started - occurrence.scheduled
        return LateVerdict(run=False, outcome="too_late", reason=too_late(by, rule)) if is_too_late(by, rule) else RUN
    return verdict


async def _stand_back(occurrence: Occurrence, rule: CatchUpRequest, verdict: LateVerdict) -> JobResult:
    """Runs the others, one by one, and ends only then, so that the schedule sees the job as running meanwhile."""
    dropped: list[datetime] = []
    known = occurrence.last_success
    for at in map(instant, verdict.instead):
        if is_too_late(workflow.now() - at, rule):
            dropped.append(at)
        else:
            known = await _run_instead(occurrence, at, known) or known
    if occurrence.request.outcome_attribute:
        workflow.upsert_search_attributes([OUTCOME.value_set(verdict.outcome)])
    result = occurrence.finish(verdict.outcome, verdict.reason)
    return replace(
        result,
        caught_up_to=verdict.caught_up_to or result.caught_up_to,
        not_run=_not_run(verdict.not_run, dropped, rule),
        last_success=known,
    )


async def _run_instead(occurrence: Occurrence, at: datetime, known: LastSuccess | None) -> LastSuccess | None:
    """Runs another occurrence under its own id, which a start by the schedule takes as well: whoever comes second is refused.

    Its outcome is its own. The last success that it leaves, None where it had not ended well or ran elsewhere.
    """
    own = workflow.info().workflow_id
    workflow.set_current_details(f"Late; {occurrence_id(occurrence.request.job, at)} runs in its stead.")
    try:
        result: JobResult = await workflow.execute_child_workflow(
            JOB_WORKFLOW,
            replace(occurrence.request, handover=Handover(own, known)),
            id=occurrence_id(occurrence.request.job, at),
            result_type=JobResult,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
            parent_close_policy=workflow.ParentClosePolicy.TERMINATE,
            search_attributes=_attributes(at),
            static_summary=f"instead of {own}",
        )
    except WorkflowAlreadyStartedError:
        return None
    except ChildWorkflowError as error:
        occurrence.instead_failed = True
        if workflow.cancellation_reason() is not None:  # whatever the other made of it: its outcome is its own
            raise CancelledError("cancelled on request") from error
        return None
    occurrence.instead_failed = result.outcome != "succeeded"
    return result.last_success


def _attributes(at: datetime) -> TypedSearchAttributes:
    """The search attributes of a run that the schedule starts, as far as this one has them."""
    own = workflow.info().typed_search_attributes
    pairs = [SearchAttributePair(key, value) for key in (OWNER, SCHEDULED_BY) if (value := own.get(key))]
    start = [SearchAttributePair(SCHEDULED_START, at)] if own.get(SCHEDULED_START) else []
    return TypedSearchAttributes([*pairs, *start])


def _not_run(decided: NotRun | None, dropped: list[datetime], rule: CatchUpRequest) -> NotRun | None:
    """The occurrences that do not run: those decided at first, and those that became too late while others ran."""
    if not dropped:
        return decided
    reason = too_late(workflow.now() - dropped[0], rule)
    if decided is None:
        return NotRun(len(dropped), stamp(dropped[0]), stamp(dropped[-1]), reason)
    return NotRun(decided.count + len(dropped), decided.first, stamp(dropped[-1]), f"{decided.reason}; {reason}")
