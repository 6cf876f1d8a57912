"""Reads from a namespace who was told of an occurrence: its incident, its notice, the watchdog's last look."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from temporalio.converter import value_to_type

from activities.account.facts import MISSABLE
from activities.contract import JOB_WORKFLOW, OWNER_ATTRIBUTE
from activities.notices.contract import INCIDENT_PREFIX, MISSED_PREFIX, WATCHDOG_WORKFLOW
from activities.occurrence import job_of, stamp
from activities.watchdog.contract import WatchdogRequest, WatchState
from schedules.ledger.decoded import first_value
from schedules.ledger.notices.history import UnknownRequestError, alerts_of, notices_in
from schedules.ledger.notices.notified import DIRECT, UNREADABLE, Notified, Watching, of_missed, of_run
from schedules.ledger.records import gathered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.api.workflow.v1 import WorkflowExecutionInfo

    from activities.account.facts import Run
    from schedules.ledger.facts import Job
    from schedules.ledger.notices.sent import NoticeHistory
    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.records import Records

MOST_PARTS = 20
"""Parts of incidents that are read: one, unless a job failed and recovered within seconds."""
MOST_WATCHDOGS = 100
SECOND = timedelta(seconds=1)


async def notices_about(
    records: Records, job: Job, occurrence: Occurrence, events: Sequence[HistoryEvent]
) -> Notified | None:
    """`events` are those of the occurrence's run; None for what is still to come. Raises ServerError."""
    if occurrence.verdict == "not_yet_due":
        return None
    if job.workflow_type != JOB_WORKFLOW:
        return Notified(why=DIRECT)
    if occurrence.run is None or occurrence.verdict in MISSABLE:
        return await _missed(records, job, occurrence)
    return await _ended(records, job, occurrence.run, events)


async def _ended(records: Records, job: Job, run: Run, events: Sequence[HistoryEvent]) -> Notified:
    try:
        alerts = await alerts_of(events, records.client.data_converter)
    except UnknownRequestError:
        return Notified(why=UNREADABLE)
    if run.closed_at is None or alerts is None:
        return of_run(run, alerts, ())
    parts = await _parts(records, job.name, run)
    told = await gathered(lambda each: notices_of(records, each.execution.workflow_id, each.execution.run_id), parts)
    return of_run(run, alerts, [each for each in told if each])


async def _parts(records: Records, job: str, run: Run) -> list[WorkflowExecutionInfo]:
    """The incidents of the job that were open while the run was."""
    quoted = f"{INCIDENT_PREFIX}{job}".replace("'", "''")
    query = f"WorkflowId = '{quoted}' AND StartTime <= '{stamp((run.closed_at or run.started_at) + SECOND)}'"
    found = await records.newest_executions(query)
    begun = run.started_at.timestamp()
    return [
        each
        for each in found
        if not each.HasField("close_time") or each.close_time.ToDatetime(tzinfo=UTC).timestamp() >= begun
    ][:MOST_PARTS]


async def notices_of(records: Records, workflow_id: str, run_id: str = "") -> NoticeHistory | None:
    """The notices of an incident, or of a notice by itself; None where the server does not know of the workflow."""
    events = await records.history(workflow_id, run_id)
    if not events:
        return None
    described = await records.described(workflow_id, run_id)
    pending = described.pending_activities if described else ()
    found = described.workflow_execution_info.execution.run_id if described else run_id
    return await notices_in(workflow_id, found, events, pending, records.client.data_converter)


async def _missed(records: Records, job: Job, occurrence: Occurrence) -> Notified:
    at = occurrence.scheduled_at
    told = await notices_of(records, f"{MISSED_PREFIX}{job.name}-{stamp(at)}")
    watching = None if told else await _watching(records, job)
    return of_missed(at, occurrence.verdict, told, watching)


async def _watching(records: Records, job: Job) -> Watching | None:
    """The newest state of the job's watchdog; None where none has looked."""
    if not job.owner:
        return None
    query = f"WorkflowType = '{WATCHDOG_WORKFLOW}' AND {OWNER_ATTRIBUTE} = '{job.owner}' AND CloseTime IS NOT NULL"
    newest: dict[str, WorkflowExecutionInfo] = {}
    for each in await records.newest_executions(query):
        newest.setdefault(job_of(each.execution.workflow_id), each)
    looks = list(newest.values())[:MOST_WATCHDOGS]
    found = await gathered(lambda each: _look(records, each, job.name), looks)
    return next((each for each in found if each), None)


async def _look(records: Records, info: WorkflowExecutionInfo, job: str) -> Watching | None:
    """The request and the result of one run of a watchdog; None where the job is not in it, or it cannot be read."""
    events = await records.history(info.execution.workflow_id, info.execution.run_id)
    if not events or not events[-1].HasField("workflow_execution_completed_event_attributes"):
        return None
    converter = records.client.data_converter
    given = await first_value(events[0].workflow_execution_started_event_attributes.input, converter)
    left = await first_value(events[-1].workflow_execution_completed_event_attributes.result, converter)
    if not isinstance(given, dict) or not isinstance(left, dict):
        return None
    request, state = value_to_type(WatchdogRequest, given), value_to_type(WatchState, left)
    watched = next((each for each in request.jobs if each.job == job), None)
    return Watching(watched, state) if watched else None
