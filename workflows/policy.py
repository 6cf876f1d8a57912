"""The decisions of a run, free of any workflow: which time it stands for, how a failure counts, how retries are paced."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from temporalio.common import RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ChildWorkflowError,
    FailureError,
    RetryState,
    TimeoutError,  # noqa: A004 - the SDK's name
    TimeoutType,
)

from activities.contract import (
    GIVE_BACK_SECONDS,
    HANDLER_FAILED,
    HANDLER_TIMEOUT,
    NOT_OFFERED,
    WORKER_SHUTDOWN,
    LastSuccess,
)
from activities.occurrence import scheduled_time as time_of
from activities.steps.output import MAX_OUTPUT, MAX_OUTPUTS, bound_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from activities.contract import JobResult, Outcome, RetryRequest, StepRequest, StepResult

_OWN_TYPES = {HANDLER_FAILED, HANDLER_TIMEOUT, WORKER_SHUTDOWN, NOT_OFFERED}
_LONGEST_PAUSE = 10.0
_STARTED = {TimeoutType.START_TO_CLOSE, TimeoutType.HEARTBEAT}
"""Limits that only an attempt which has begun can meet."""


@dataclass(frozen=True)
class Failure:
    """The failure of a step; `attempts` is None where nothing tells how many there were."""

    outcome: Literal["failed", "timed_out"]
    reason: str
    attempts: int | None


@dataclass(frozen=True)
class Drained:
    """The state for the activity that goes on where another was drained or given back."""

    earlier_attempts: int = 0
    last_heartbeat: tuple[Any, ...] = ()
    given_back: int = 0


def scheduled_time(workflow_id: str, attribute: datetime | None, start: datetime) -> datetime:
    """The time that this run stands for: the schedule's own mark, else the end of an occurrence's id, else the start.

    A server without schedules (the time-skipping one) sets no mark, so tests name the time in the id.
    """
    if attribute is not None:
        return attribute.astimezone(UTC)
    return time_of(workflow_id) or start.astimezone(UTC).replace(microsecond=0)


def retry_policy(retry: RetryRequest, earlier_attempts: int = 0) -> RetryPolicy:
    """Retries as the server paces them when an attempt could not say so itself (its worker died, or it never started)."""
    return RetryPolicy(
        initial_interval=timedelta(seconds=retry.initial),
        maximum_interval=timedelta(seconds=max(retry.max, retry.initial)),
        backoff_coefficient=2.0 if retry.backoff == "exponential" else 1.0,
        maximum_attempts=max(1, retry.max_attempts - earlier_attempts),
    )


def explain_failure(error: FailureError, step: StepRequest) -> Failure:
    """`timed_out` where a time limit ended the step, its own or the run's; `failed` for all else."""
    chain = _causes(error)
    attempts = _attempts(chain, step.retry)
    last = next((cause for cause in chain if isinstance(cause, ApplicationError)), None)
    limit = _limit(chain, step)
    if limit:
        return Failure("timed_out", limit + (f"; last attempt: {last.message}" if last else ""), attempts)
    if last is not None and last.type == NOT_OFFERED:
        seconds = give_back_limit(step).total_seconds()
        return Failure("timed_out", f"no worker that can run it took it within {seconds:g} s: {last.message}", attempts)
    if last is not None:
        own = isinstance(error, ActivityError) and last.type == HANDLER_TIMEOUT
        return Failure("timed_out" if own else "failed", last.message, attempts)
    return Failure("failed", str(chain[-1]), attempts)


def drained(error: FailureError) -> Drained | None:
    """What an attempt left that says nothing about the job: its worker shut down or gave it back; None for other failures."""
    last = error.__cause__
    if not isinstance(last, ApplicationError) or last.type not in {WORKER_SHUTDOWN, NOT_OFFERED}:
        return None
    return Drained(max(0, (_attempt(last) or 1) - 1), tuple(last.details[1:2]), int(last.type == NOT_OFFERED))


def give_back_limit(step: StepRequest) -> timedelta:
    """The time for which a step is given back for a worker that can run it."""
    return timedelta(seconds=GIVE_BACK_SECONDS if step.start_timeout is None else step.start_timeout)


def give_back_pause(times: int) -> float:
    """Seconds before it is offered again, after it was given back so many times."""
    return min(2.0 ** (times - 1), _LONGEST_PAUSE)


def total(counts: list[int | None]) -> int | None:
    """The sum, if every one of them is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def last_success(
    outcome: Outcome, scheduled_at: str, steps: Sequence[StepResult], known: LastSuccess | None
) -> LastSuccess | None:
    """The last success for the next run: this one if it has succeeded, unless a newer one is known; else what this one knew."""
    if outcome != "succeeded" or (known is not None and known.scheduled_at > scheduled_at):
        return known
    succeeded = [step for step in steps if step.outcome == "succeeded"]
    outputs = bound_all([step.output for step in succeeded], MAX_OUTPUT)
    return LastSuccess(
        scheduled_at,
        {step.name: output for step, output in zip(succeeded, outputs, strict=True)},
        {step.name: step.altered for step in succeeded if step.altered},
    )


def success_of(before: JobResult) -> LastSuccess | None:
    """The newest success that the run before knew of; results of version 0.1 do not say so themselves."""
    return before.last_success or last_success(before.outcome, before.scheduled_at, before.steps, None)


def bounded(steps: Sequence[StepResult]) -> list[StepResult]:
    """The results with outputs of at most MAX_OUTPUTS bytes together, and without logs, which the steps' own results have."""
    outputs = bound_all([step.output for step in steps], MAX_OUTPUTS)
    return [replace(step, output=output, log="") for step, output in zip(steps, outputs, strict=True)]


def _attempts(chain: list[BaseException], retry: RetryRequest) -> int | None:
    """The number of the step's attempts; what a workflow of the user's says about it is not taken for ours."""
    error = chain[0]
    if not isinstance(error, ActivityError | ChildWorkflowError):
        return None
    if error.retry_state == RetryState.MAXIMUM_ATTEMPTS_REACHED:
        return retry.max_attempts
    if isinstance(error, ChildWorkflowError):
        return 1 if retry.max_attempts == 1 else None
    told = next((number for cause in chain if (number := _attempt(cause)) is not None), None)
    limits = {cause.type for cause in chain if isinstance(cause, TimeoutError)}
    if told is None and retry.max_attempts == 1 and limits & {*_STARTED, TimeoutType.SCHEDULE_TO_START}:
        return 1 if limits & _STARTED else 0
    return told


def _limit(chain: list[BaseException], step: StepRequest) -> str:
    """Which limit of the server ended the step; empty for none."""
    child = chain[0]
    if isinstance(child, ChildWorkflowError) and any(isinstance(cause, TimeoutError) for cause in chain):
        hint = f"an exception in its code is tried again until then, see {child.workflow_id}"
        return f"the workflow `{child.workflow_type}` did not end in time; {hint}"
    if any(isinstance(cause, TimeoutError) and cause.type == TimeoutType.SCHEDULE_TO_START for cause in chain):
        return f"no worker took it within {step.start_timeout:g} s{_queue(step)}"
    for cause in chain:
        if isinstance(cause, TimeoutError):
            return f"{cause.type.name.lower().replace('_', '-')} timeout" if cause.type else "timeout"
        if isinstance(cause, ActivityError | ChildWorkflowError) and cause.retry_state == RetryState.TIMEOUT:
            return "the deadline leaves no time for another attempt"
    return ""


def _queue(step: StepRequest) -> str:
    return f"; is one running for the task queue `{step.task_queue}`?" if step.task_queue else ""


def _causes(error: BaseException) -> list[BaseException]:
    """The error, its cause, and so on."""
    chain = [error]
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    return chain


def _attempt(error: BaseException) -> int | None:
    """The number in a failure of our own activities."""
    if not isinstance(error, ApplicationError) or error.type not in _OWN_TYPES or not error.details:
        return None
    facts = error.details[0]
    number = facts.get("attempt") if isinstance(facts, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None
