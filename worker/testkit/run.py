"""Runs the occurrences of a span on a test server, one after another."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.converter import value_to_type
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from activities.contract import JOB_WORKFLOW, Handover, JobRequest, JobResult, LastSuccess
from activities.occurrence import occurrence_id, stamp
from worker.testkit.moments import shown
from worker.testkit.outcome import Occurrence
from worker.testkit.overlap import Ran, start_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.client import WorkflowExecutionDescription, WorkflowHandle

    from worker.testkit.faults import FaultPlan
    from worker.testkit.server import Clock
    from worker.testkit.span import Span
    from worker.testkit.stand_ins import StandIns

FIRST_LEAP = timedelta(minutes=1)


@dataclass
class SpanRun:
    """One job's way through a span: each occurrence starts when the schedule would start it."""

    client: Client
    clock: Clock
    queue: str
    span: Span
    request_at: Callable[[datetime], JobRequest]
    stand_ins: StandIns
    plan: FaultPlan
    _before: Ran | None = None
    _successes: list[tuple[datetime, LastSuccess]] = field(default_factory=list)

    async def occurrences(self) -> list[Occurrence]:
        """All of them, oldest first. Raises the AssertionError of a stand-in."""
        found: list[Occurrence] = []
        for due, following in zip(self.span.times, [*self.span.times[1:], self.span.following], strict=True):
            found.append(await self._occurrence(due, following))
            if self.stand_ins.broken is not None:
                raise self.stand_ins.broken
        return found

    async def _occurrence(self, due: datetime, following: datetime | None) -> Occurrence:
        start = start_of(due, self._before, self.span.job.overlap)
        local = due.astimezone(self.span.zone)
        if start is None:
            return Occurrence(scheduled_at=local, outcome="skipped", reason=self._still_going())
        await self.clock.move_to(start)
        handle = await self._start(due, start)
        try:
            description, cut = await self._end_of(handle, start, following)
        except BaseException:
            with suppress(RPCError):
                await handle.terminate(reason="the test has ended")
            raise
        duration = (description.close_time or description.start_time) - description.start_time
        duration += timedelta(seconds=self.plan.unspent)
        self.plan.unspent = 0.0
        self._before = Ran(due, start, start + duration)
        result = await _result(handle)
        why = f"the next one was due (overlap: {self.span.job.overlap})" if cut else ""
        occurrence = self._told(local, description, result, why)
        if isinstance(result, JobResult) and result.outcome == "succeeded":
            success = result.last_success or LastSuccess(stamp(due), occurrence.outputs)
            self._successes.append((start + duration, success))
        return replace(occurrence, duration=duration.total_seconds(), lateness=(start - due).total_seconds())

    async def _start(self, due: datetime, start: datetime) -> WorkflowHandle[Any, JobResult]:
        request = replace(self.request_at(due), handover=self._handover(start))
        return await self.client.start_workflow(
            JOB_WORKFLOW,
            request,
            id=occurrence_id(self.span.job.name, due),
            task_queue=self.queue,
            result_type=JobResult,
        )

    def _handover(self, start: datetime) -> Handover | None:
        """The newest success before; as on a server with schedules, there is none where runs may overlap."""
        ended = (success for end, success in reversed(self._successes) if end <= start)
        last = None if self.span.job.overlap == "allow_all" else next(ended, None)
        return None if last is None else Handover(f"{self.span.job.name}-{last.scheduled_at}", last)

    async def _end_of(
        self, handle: WorkflowHandle[Any, JobResult], start: datetime, following: datetime | None
    ) -> tuple[WorkflowExecutionDescription, bool]:
        """The closed run, and whether the next occurrence ended it."""
        leap, cut = (following - start if following and following > start else FIRST_LEAP), False
        while True:
            await self.clock.forward(leap)
            description = await handle.describe()
            if description.status != WorkflowExecutionStatus.RUNNING:
                return description, cut
            if following is not None and not cut:
                cut = await self._cut(handle)
            leap = FIRST_LEAP if cut else max(2 * leap, FIRST_LEAP)

    async def _cut(self, handle: WorkflowHandle[Any, JobResult]) -> bool:
        """Whether the policy lets the occurrence that is due now end this run; then it is told to."""
        match self.span.job.overlap:
            case "cancel_other":
                await handle.cancel()
            case "terminate_other":
                await handle.terminate()
            case _:
                return False
        return True

    def _told(
        self, local: datetime, description: WorkflowExecutionDescription, result: JobResult | str, why: str
    ) -> Occurrence:
        """The outcome in the run's own words, or where it left none, in the server's; `why` it was cut short comes before."""
        calls = tuple(self.stand_ins.calls[stamp(local)])
        if isinstance(result, str):
            terminated = description.status == WorkflowExecutionStatus.TERMINATED
            return Occurrence(
                scheduled_at=local,
                outcome="terminated" if terminated else "cancelled",
                attempts=len(calls),
                reason=why or result,
                calls=calls,
            )
        return Occurrence(
            scheduled_at=local,
            outcome=result.outcome,
            attempts=result.attempts,
            reason="; ".join(filter(None, [why, result.reason])),
            steps=tuple(result.steps),
            calls=calls,
        )

    def _still_going(self) -> str:
        if self._before is None:
            return ""
        took = self._before.ended - self._before.started
        first = self._before.scheduled_at.astimezone(self.span.zone)
        return (
            f"the run scheduled for {shown(first)} was still going; it took {took} (overlap: {self.span.job.overlap})"
        )


async def _result(handle: WorkflowHandle[Any, JobResult]) -> JobResult | str:
    """What the run says about itself, or the server about it."""
    try:
        return await handle.result()
    except WorkflowFailureError as failure:
        cause = failure.cause
        if isinstance(cause, ApplicationError) and cause.details and isinstance(cause.details[0], dict):
            told: JobResult = value_to_type(JobResult, cause.details[0])
            return told
        return str(cause)
