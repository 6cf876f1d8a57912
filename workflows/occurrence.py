"""What is known of an occurrence while it runs, and the result that it ends with."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import SearchAttributeKey

with workflow.unsafe.imports_passed_through():
    from activities.contract import JobResult
    from workflows import policy
    from workflows.told import tell_run

if TYPE_CHECKING:
    from activities.contract import JobRequest, NotRun, Outcome, StepResult

SCHEDULED_START = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
SCHEDULED_BY = SearchAttributeKey.for_keyword("TemporalScheduledById")


class Occurrence:
    """One occurrence of a job: which time it stands for, when it started, and what has become of its steps so far.

    `results` are by step; `undone` are those of compensations, in the order in which they ran. `last_success` is the newest
    success before this run: told by the late run that started it, else by the run that completed before. Up to
    `caught_up_to` an earlier late run has decided. `ended` is the result, once there is one.
    """

    def __init__(self, request: JobRequest) -> None:
        info = workflow.info()
        self.request = request
        self.results: dict[str, StepResult] = {}
        self.undone: list[StepResult] = []
        self.ended: JobResult | None = None
        self.started = workflow.now()
        attribute = info.typed_search_attributes.get(SCHEDULED_START)
        self.scheduled = policy.scheduled_time(info.workflow_id, attribute, info.workflow_start_time)
        self.not_run: NotRun | None = None
        self._before = _last_result()
        self.caught_up_to = self._before.caught_up_to if self._before else ""
        known = policy.success_of(self._before) if self._before else None
        self.last_success = request.handover.last_success if request.handover else known

    @property
    def scheduled_at(self) -> str:
        """RFC 3339 in UTC, whole seconds."""
        return self.scheduled.strftime(policy.OCCURRENCE_TIME)

    @cached_property
    def may_be_failing(self) -> bool:
        """Whether the job may have failed since it last succeeded; where the server hands nothing on, it may have."""
        info, alerts = workflow.info(), self.request.alerts
        by_schedule = info.typed_search_attributes.get(SCHEDULED_BY) is not None and info.parent is None
        if not by_schedule or alerts is None or not alerts.carried or workflow.get_last_failure() is not None:
            return True
        return self._before is None or self._before.failing

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
            failing=self.request.alerts is not None and outcome != "succeeded" and self.may_be_failing,
        )
        self.ended = result
        workflow.set_current_details(outcome + (f": {reason}" if reason else ""))
        tell_run(self.request.job, result)
        return result


def _last_result() -> JobResult | None:
    """What the schedule's run before this one that completed has left; the server carries it over (not under `allow_all`)."""
    if not workflow.has_last_completion_result():
        return None
    try:
        return workflow.get_last_completion_result(JobResult)
    except Exception:  # noqa: BLE001 - what another workflow than JobWorkflow left says nothing
        return None
