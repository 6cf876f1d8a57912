"""What really happened: every run with its history from Temporal, the log of the work, and the rows in the database."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import psycopg
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus

if TYPE_CHECKING:
    from pathlib import Path

    from temporalio.api.history.v1 import HistoryEvent

DECIDED = frozenset({"superseded", "too_late", "skipped"})
TIME = 20
"""Characters of the time at the end of a run's id."""


@dataclass
class Run:
    """A run; times are Unix seconds. `taken` is its first workflow task, `begun` its first step, None where there was none."""

    id: str
    run_id: str
    status: str
    started: float
    closed: float | None
    parent: str = ""
    asked: bool = False
    taken: float | None = None
    begun: float | None = None
    outcome: str = ""
    reason: str = ""
    ended_by: str = ""
    not_run: dict[str, Any] | None = None
    events: int = 0
    tasks: int = 0

    @property
    def worked(self) -> bool:
        return self.begun is not None

    @property
    def verdict(self) -> str:
        """What it is to be called."""
        return self.outcome or self.status


@dataclass
class Seen:
    """`runs` by workflow id, oldest first; `begins` by idempotency key; `booked` and `posted` count effects by key."""

    runs: dict[str, list[Run]] = field(default_factory=dict)
    begins: dict[str, list[float]] = field(default_factory=dict)
    booked: Counter[str] = field(default_factory=Counter)
    posted: Counter[str] = field(default_factory=Counter)

    def of_job(self, job: str) -> list[Run]:
        """All runs of a job, whatever they stand for."""
        return [run for name, runs in self.runs.items() if job_of(name) == job for run in runs]


def job_of(workflow_id: str) -> str:
    """The job's name; empty where the id is of another form."""
    return workflow_id[: -TIME - 1] if time_of(workflow_id) is not None else ""


def time_of(workflow_id: str) -> int | None:
    """The time at the end of an id."""
    try:
        return int(datetime.strptime(workflow_id[-TIME:], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


async def look(address: str, folder: Path, database: str, posted: Counter[str]) -> Seen:
    """All there is, once nothing goes on any more."""
    client = await Client.connect(address)
    seen = Seen(posted=posted)
    listed = [run async for run in client.list_workflows("WorkflowType = 'JobWorkflow'")]
    limit = asyncio.Semaphore(4)
    for run in await asyncio.gather(*(_read(client, run, limit) for run in listed)):
        seen.runs.setdefault(run.id, []).append(run)
    for runs in seen.runs.values():
        runs.sort(key=lambda run: run.started)
    path = folder / "work.log"
    for line in path.read_text().splitlines() if path.exists() else []:
        key, at, what = line.split()
        if what == "begin":
            seen.begins.setdefault(key, []).append(float(at))
    with psycopg.connect(database) as connection:
        seen.booked = Counter(key for (key,) in connection.execute("SELECT key FROM booked").fetchall())
    return seen


async def _read(client: Client, listed: WorkflowExecution, limit: asyncio.Semaphore) -> Run:
    closed = listed.close_time.timestamp() if listed.close_time else None
    status = "running" if listed.status is None else listed.status.name.lower()
    status = {"canceled": "cancelled", "completed": "succeeded"}.get(status, status)
    run = Run(listed.id, listed.run_id, status, listed.start_time.timestamp(), closed, listed.parent_id or "")
    async with limit:
        handle = client.get_workflow_handle(listed.id, run_id=listed.run_id)
        async for event in handle.fetch_history_events():
            _note(run, event)
    assert listed.status != WorkflowExecutionStatus.CONTINUED_AS_NEW
    return run


def _note(run: Run, event: HistoryEvent) -> None:
    at, kind = event.event_time.ToDatetime(UTC).timestamp(), event.event_type
    run.events += 1
    if kind == EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED:
        run.tasks += 1
        run.taken = at if run.taken is None else run.taken
    elif kind == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
        run.begun = at if run.begun is None else run.begun
    elif kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
        run.ended_by = event.workflow_execution_terminated_event_attributes.reason
    elif kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
        run.ended_by = event.workflow_execution_cancel_requested_event_attributes.cause or "cancelled"
    elif kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
        _result(run, event.workflow_execution_completed_event_attributes.result.payloads)
    elif kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
        failure = event.workflow_execution_failed_event_attributes.failure
        run.reason = failure.message
        _result(run, failure.application_failure_info.details.payloads)


def _result(run: Run, payloads: Any) -> None:
    document = json.loads(payloads[0].data) if payloads else {}
    run.outcome, run.reason = document.get("outcome", ""), document.get("reason", run.reason)
    run.not_run = document.get("not_run")
