"""Finished runs as they happen, read from Temporal: what `worker.dev` shows."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import structlog
from temporalio.client import WorkflowExecution, WorkflowHistoryEventFilterType
from temporalio.service import RPCError

from activities.contract import OWNER_ATTRIBUTE
from activities.occurrence import STAMP_LENGTH, job_of, occurrence_of
from schedules.errors import UndecodableError
from schedules.ledger.attempt_output import last_line, streams_of
from schedules.ledger.run_result import job_result

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from temporalio.client import Client

    from activities.contract import JobResult

PAUSE = 0.5
PATIENCE = timedelta(seconds=3)
LOOK_BACK = timedelta(seconds=30)
"""Visibility lags behind: each look starts this much before the last one, and what was seen is not shown twice."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """One occurrence that has ended; seconds where nothing else is said, None where its end does not tell.

    `printed` is the last line that its steps put out, of one that succeeded.
    """

    job: str
    scheduled_at: str
    outcome: str
    lateness: float | None = None
    attempts: int | None = None
    duration: float | None = None
    reason: str = ""
    printed: str = ""


async def finished_runs(
    client: Client, owner: str, since: datetime, ended: asyncio.Event
) -> AsyncIterator[FinishedRun]:
    """Yields each run of the owner that closed after `since`, once; a last look once `ended` is set is the end."""
    feed, last = _Feed(client, owner, since), False
    while not last:
        last = ended.is_set()
        try:
            async for finished in feed.look():
                yield finished
        except RPCError as error:
            structlog.get_logger().warning("runs not read", action="feed_unanswered", error=error.message)
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if last else PAUSE):
                await ended.wait()


class _Feed:
    """What has been seen of the runs of an owner."""

    def __init__(self, client: Client, owner: str, since: datetime) -> None:
        self._client, self._owner, self._since = client, owner, since
        self._seen: dict[str, datetime] = {}

    async def look(self) -> AsyncIterator[FinishedRun]:
        """The runs that have ended and were not yielded yet, oldest first."""
        query = f"{OWNER_ATTRIBUTE} = '{self._owner}' AND CloseTime >= '{self._since.isoformat()}'"
        runs = self._client.list_workflows(query, rpc_timeout=PATIENCE)
        found = [execution async for execution in runs if execution.run_id not in self._seen]
        for execution in sorted(found, key=_closed):
            finished = await _finished(self._client, execution)
            self._seen[execution.run_id] = _closed(execution)
            yield finished
        self._since = max([self._since, *(closed - LOOK_BACK for closed in self._seen.values())])
        self._seen = {run_id: closed for run_id, closed in self._seen.items() if closed >= self._since}


def _closed(execution: WorkflowExecution) -> datetime:
    return execution.close_time or execution.start_time


async def _finished(client: Client, execution: WorkflowExecution) -> FinishedRun:
    job, scheduled_at = job_of(execution.id), occurrence_of(execution.id)[-STAMP_LENGTH:]
    handle = client.get_workflow_handle(execution.id, run_id=execution.run_id)
    only_the_end, reason = WorkflowHistoryEventFilterType.CLOSE_EVENT, ""
    try:
        async for event in handle.fetch_history_events(event_filter_type=only_the_end, rpc_timeout=PATIENCE):
            if result := await job_result(event, client.data_converter):
                return _of_result(job, scheduled_at, result)
    except UndecodableError as error:
        reason = str(error)
    status = execution.status.name.lower() if execution.status else "unknown"
    return FinishedRun(job, scheduled_at, "cancelled" if status == "canceled" else status, reason=reason)


def _of_result(job: str, scheduled_at: str, result: JobResult) -> FinishedRun:
    lines = (last_line(streams_of(step.output, step.log)) for step in reversed(result.steps))
    return FinishedRun(
        job,
        scheduled_at,
        result.outcome,
        result.lateness,
        result.attempts,
        result.duration,
        result.reason,
        printed="" if result.reason else next(filter(None, lines), ""),
    )
