"""The state of an occurrence while it runs, and the result that it ends with."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.contract import IS_SCHEDULED_TIME, JobResult, TimeQuestion
    from activities.late.decision import instant
    from activities.notices.contract import Success
    from activities.occurrence import occurrence_id, stamp
    from workflows import policy
    from workflows.counting import count_run

if TYPE_CHECKING:
    from activities.contract import JobRequest, NotRun, Outcome, StepResult

SCHEDULED_START = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
ATTEMPTS = 6
"""Of a question to the worker, half a minute."""
SCHEDULED_BY = SearchAttributeKey.for_keyword("TemporalScheduledById")


class Occurrence:
    """One occurrence of a job: which time it stands for, when it started, and what has become of its steps so far.

    `results` are by step; `undone` are those of compensations, in the order in which they ran. `last_success` is the newest
    success before this run: told by the late run that started it, else by the run that completed before. Up to
    `caught_up_to` an earlier late run has decided. `ended` is the result, once there is one. `instead_failed` tells how the
    last run ended that this one started in its own stead, None where there was none. `before_unreadable` says why nothing
    is known of the run before although there was one.
    """

    def __init__(self, request: JobRequest) -> None:
        info = workflow.info()
        self.request = request
        self.results: dict[str, StepResult] = {}
        self.undone: list[StepResult] = []
        self.ended: JobResult | None = None
        self.instead_failed: bool | None = None
        self.started = workflow.now()
        attribute = info.typed_search_attributes.get(SCHEDULED_START)
        self.scheduled = policy.scheduled_time(info.workflow_id, attribute, info.workflow_start_time)
        self.not_run: NotRun | None = None
        self._before, self.before_unreadable = _last_result()
        self.caught_up_to = self._before.caught_up_to if self._before else ""
        known = policy.success_of(self._before) if self._before else None
        self.last_success = request.handover.last_success if request.handover else known

    @property
    def scheduled_at(self) -> str:
        """RFC 3339 in UTC, whole seconds."""
        return stamp(self.scheduled)

    @cached_property
    def results_carry_over(self) -> bool:
        """Whether Temporal passes the last result and failure to the next run: only for runs that the schedule started."""
        info, alerts = workflow.info(), self.request.alerts
        by_schedule = info.typed_search_attributes.get(SCHEDULED_BY) is not None and info.parent is None
        return by_schedule and alerts is not None and alerts.carried and not self.request.rerun

    @cached_property
    def after_failure(self) -> bool:
        """Whether the schedule's run before this one is known to have failed."""
        return self.results_carry_over and workflow.get_last_failure() is not None

    @cached_property
    def may_be_failing(self) -> bool:
        """Whether the job may have failed since it last succeeded; where the server hands nothing on, it may have."""
        if not self.results_carry_over or self.after_failure or self._before is None:
            return True
        return self._before.failing

    @property
    def success_before(self) -> Success | None:
        """The schedule's run before this one, if it is known to have succeeded."""
        before = self._before
        if not self.results_carry_over or self.after_failure or before is None or before.outcome != "succeeded":
            return None
        at = instant(before.scheduled_at)
        ended = at + timedelta(seconds=before.lateness + before.duration)
        return Success(
            scheduled_at=before.scheduled_at,
            workflow_id=occurrence_id(self.request.job, at),
            run_id="",
            ended_at=ended.isoformat(),
            attempts=before.attempts,
            duration=before.duration,
        )

    def remaining(self, least: timedelta = timedelta(milliseconds=1)) -> timedelta | None:
        """What is left of the run's deadline, counted from its actual start, and at least `least`; None without one."""
        if self.request.deadline is None:
            return None
        return max(self.started + timedelta(seconds=self.request.deadline) - workflow.now(), least)

    def finish(self, outcome: Outcome, reason: str = "") -> JobResult:
        """The result; it also becomes the run's current details."""
        steps = [self.results[step.name] for step in self.request.steps if step.name in self.results]
        known = policy.last_success(outcome, self.scheduled_at, steps, self.last_success)
        result = JobResult(
            outcome=outcome,
            scheduled_at=self.scheduled_at,
            lateness=(self.started - self.scheduled).total_seconds(),
            duration=(workflow.now() - self.started).total_seconds(),
            attempts=policy.total([step.attempts for step in steps]),
            steps=policy.bounded(steps),
            reason=reason,
            last_success=known,
            compensations=policy.bounded(self.undone),
            caught_up_to=self.caught_up_to,
            not_run=self.not_run,
            failing=self.request.alerts is not None and outcome != "succeeded" and self._leaves_failing,
        )
        self.ended = result
        workflow.set_current_details(outcome + (f": {reason}" if reason else ""))
        count_run(self.request.job, result)
        return result

    @property
    def _leaves_failing(self) -> bool:
        return self.may_be_failing if self.instead_failed is None else self.instead_failed


async def is_before_start(occurrence: Occurrence) -> bool:
    """Whether the run stands for a scheduled time before the job's `start_at`; it leaves no trace in a run after it.

    A schedule starts none after it was told of `start_at`. A time that comes due in the second in which it is told is started
    with what was just written, and the old scheduler does its work. A run started by hand does its own work; where the worker
    cannot tell which of the two it is, nothing is done twice.
    """
    request = occurrence.request
    if not request.start_at or occurrence.scheduled >= instant(request.start_at) or request.rerun:
        return False
    if workflow.info().typed_search_attributes.get(SCHEDULED_BY) is None:
        return False
    try:
        due: bool = await workflow.execute_local_activity(
            IS_SCHEDULED_TIME,
            TimeQuestion(request.times, occurrence.scheduled_at),
            result_type=bool,
            start_to_close_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(maximum_attempts=ATTEMPTS),
        )
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        return True
    return due


def _last_result() -> tuple[JobResult | None, str]:
    """The result of the schedule's newest run that completed, which the server carries over (not under `allow_all`), or why it cannot be read."""
    if not workflow.has_last_completion_result():
        return None, ""
    try:
        return workflow.get_last_completion_result(JobResult), ""
    except Exception as error:  # noqa: BLE001 - another workflow than JobWorkflow may have left anything
        reason = f"the result of the run before is none of a job's, or cannot be read ({type(error).__name__})"
        workflow.logger.warning("%s; the last success is not known", reason)
        return None, reason
