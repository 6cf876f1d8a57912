"""Reports of a run's end: to the incident of its job, and to an outside monitor. They do not change how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.notices.contract import REPORT_ENDING, SEND_PING, AlertRequest, Ping, Report, Sign
    from workflows.carry_out import cancelled_while_waiting
    from workflows.last_lines import last_lines

if TYPE_CHECKING:
    from activities.contract import JobResult
    from workflows.occurrence import Occurrence

FAILURES = frozenset({"failed", "timed_out", "compensation_failed"})
"""Outcomes that count as failures of the job; a run that was cancelled or did not run says nothing about it."""
REPORT_TIMEOUT, REPORT_GIVEN_UP = timedelta(seconds=10), timedelta(minutes=1)
PING_TIMEOUT, PING_GIVEN_UP = timedelta(seconds=8), timedelta(seconds=20)
"""A run is open for so much longer at the most when the monitor does not answer."""


@asynccontextmanager
async def reported(occurrence: Occurrence) -> AsyncIterator[None]:
    """While the block lasts, the run is carried out. A cancellation of the run does not keep its end from being told."""
    alerts = occurrence.request.alerts
    if alerts is None:
        yield
        return
    beginning = asyncio.create_task(_ping(alerts, "start")) if alerts.ping else None
    try:
        yield
    except FailureError as error:
        await _in_any_case(_tell(occurrence, alerts, beginning, error))
        raise
    await _in_any_case(_tell(occurrence, alerts, beginning, None))


async def _tell(
    occurrence: Occurrence,
    alerts: AlertRequest,
    beginning: asyncio.Task[None] | None,
    error: FailureError | None,
) -> None:
    if (result := occurrence.ended) is None:
        return
    if alerts.wants_reports and _says_something(occurrence, result):
        await _report(_report_of(occurrence, alerts, result, error))
    if beginning is not None:
        beginning.cancel()
        sign = _sign(result)
        if sign is not None:
            await _ping(alerts, sign, result.reason)


def _says_something(occurrence: Occurrence, result: JobResult) -> bool:
    return result.outcome in FAILURES or (result.outcome == "succeeded" and occurrence.may_be_failing)


def _sign(result: JobResult) -> Sign | None:
    if result.outcome == "succeeded":
        return "success"
    return "fail" if result.outcome in FAILURES else None


def _report_of(occurrence: Occurrence, alerts: AlertRequest, result: JobResult, error: FailureError | None) -> Report:
    request, info = occurrence.request, workflow.info()
    return Report(
        project=request.project,
        environment=request.environment,
        job=request.job,
        timezone=request.times.timezone,
        outcome=result.outcome,
        scheduled_at=result.scheduled_at,
        reason=result.reason,
        attempts=result.attempts,
        duration=result.duration,
        output=last_lines(error),
        workflow_id=info.workflow_id,
        run_id=info.run_id,
        alerts=alerts,
        ended_at=workflow.now().isoformat(),
        handed_on=occurrence.results_carry_over,
        after_failure=occurrence.after_failure,
        success_before=occurrence.success_before,
    )


async def _report(report: Report) -> None:
    """A local activity: it costs the run one event."""
    try:
        await workflow.execute_local_activity(
            REPORT_ENDING,
            report,
            start_to_close_timeout=REPORT_TIMEOUT,
            schedule_to_close_timeout=REPORT_GIVEN_UP,
            retry_policy=RetryPolicy(maximum_interval=timedelta(seconds=10)),
        )
    except ActivityError as error:
        workflow.logger.error("the incident was not told how the run ended: %s", error.cause or error)


async def _ping(alerts: AlertRequest, sign: Sign, reason: str = "") -> None:
    try:
        await workflow.execute_activity(
            SEND_PING,
            Ping(alerts.ping, sign, workflow.info().run_id, reason),
            start_to_close_timeout=PING_TIMEOUT,
            schedule_to_close_timeout=PING_GIVEN_UP,
            retry_policy=RetryPolicy(maximum_attempts=3),
            summary=f"ping: {sign}",
        )
    except ActivityError as error:
        workflow.logger.warning("no ping: %s: %s", sign, error.cause or error)


async def _in_any_case(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.create_task(work)
    while not task.done():
        await cancelled_while_waiting([task])
    task.result()
