"""What is known of an occurrence while it runs, and the result that it ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import SearchAttributeKey

with workflow.unsafe.imports_passed_through():
    from activities.contract import JobResult
    from activities.output import bound_result
    from workflows import policy

if TYPE_CHECKING:
    from activities.contract import JobRequest, Outcome, StepResult

SCHEDULED_START = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")


class Occurrence:
    """One occurrence of a job: which time it stands for, when it started, and the results of its steps so far."""

    def __init__(self, request: JobRequest) -> None:
        info = workflow.info()
        self.request = request
        self.results: list[StepResult] = []
        self.started = workflow.now()
        attribute = info.typed_search_attributes.get(SCHEDULED_START)
        self.scheduled = policy.scheduled_time(info.workflow_id, attribute, info.start_time)

    @property
    def scheduled_at(self) -> str:
        """RFC 3339 in UTC, whole seconds."""
        return self.scheduled.strftime(policy.OCCURRENCE_TIME)

    def finish(self, outcome: Outcome, reason: str = "", attempts: int | None = 0) -> JobResult:
        """The result; it also becomes the run's current details. `attempts` are those of the step that did not succeed."""
        result = bound_result(
            JobResult(
                outcome=outcome,
                scheduled_at=self.scheduled_at,
                lateness=(self.started - self.scheduled).total_seconds(),
                duration=(workflow.now() - self.started).total_seconds(),
                attempts=policy.total([attempts, *(done.attempts for done in self.results)]),
                steps=list(self.results),
                reason=reason,
            )
        )
        workflow.set_current_details(outcome + (f": {reason}" if reason else ""))
        return result
