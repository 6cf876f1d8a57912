"""Why a run started late, as far as the server can tell: what it shows of the schedule and of the runs around this one."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from temporalio.api.enums.v1 import EventType
from temporalio.client import ScheduleActionExecutionStartWorkflow
from temporalio.service import RPCError, RPCStatusCode

from activities.contract import ASKED_MEMO, BACKFILL_PREFIX
from activities.late.decision import Evidence, instant, started_late
from activities.late.scheduler_history import RPC_TIMEOUT, SchedulerHistory
from activities.occurrence import occurrence_id, scheduled_time, stamp
from activities.overlap import overlap_policy

if TYPE_CHECKING:
    from datetime import datetime

    from temporalio.client import Client, ScheduleDescription, WorkflowExecution, WorkflowExecutionDescription

    from activities.contract import LateStart
    from activities.late.decision import Occurrences

AT_ONCE = timedelta(seconds=5)
"""So soon after the end of the run before it the server starts one that waited for it."""
AFTER_THE_WINDOW = timedelta(minutes=10)
"""The most by which the server, busy after an outage, may exceed a catch-up window."""
LOOKED_AT = 20


class Witness:
    """Asks the server about one late start. Every method raises RPCError where it cannot be asked."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def asked_for(self, late: LateStart) -> bool:
        """Whether the job's backfill, which says so before it asks the schedule, has asked for this very run."""
        backfill = self._client.get_workflow_handle(BACKFILL_PREFIX + late.schedule)
        try:
            described = await backfill.describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return False
            raise
        return late.scheduled_at in (await described.memo()).get(ASKED_MEMO, [])

    async def evidence(self, late: LateStart, occurrences: Occurrences) -> Evidence:
        """What decides whether it was missed."""
        described = self._client.get_schedule_handle(late.schedule).describe(rpc_timeout=RPC_TIMEOUT)
        schedule, others = await asyncio.gather(described, self._others(late))
        state, own = schedule.schedule.state, started_late(late)
        if any(run.id == late.workflow_id for run in others):  # a native start never uses an id again
            return Evidence(by_hand=True)
        kept = own and overlap_policy(late.catchup.overlap).waits
        follows = kept and await self._waited(late, schedule)
        odd = not _is_occurrence(late.workflow_id, late.job, occurrences) or (state.paused and not follows)
        history = SchedulerHistory(self._client, late)
        suspect = own and (odd or _changed_since(late, schedule) or _newer(others, late, occurrences))
        asked = await history.was_asked_for() if own else None
        # What waits for others outlives a change of its schedule; anything else the server would have forgotten.
        if asked or (suspect and not (kept and asked is False)):
            return Evidence(by_hand=True)
        halted = state.paused or (state.limited_actions and state.remaining_actions == 0)
        back = await history.woke_up() if kept else None
        away = back is not None and back - instant(late.scheduled_at) > timedelta(seconds=late.catchup.late_after)
        return Evidence(waited=follows and not away, halted=halted, server_back=back if away else None, native=kept)

    async def started_before(self, late: LateStart) -> datetime | None:
        """The newest time before this run's that the schedule has started, or the moment from which on it starts any."""
        schedule = await self._client.get_schedule_handle(late.schedule).describe(rpc_timeout=RPC_TIMEOUT)
        query = (
            f'TemporalScheduledById = "{late.schedule}" AND TemporalScheduledStartTime < "{late.scheduled_at}"'
            f' AND StartTime <= "{late.started_at}"'
        )
        runs = self._client.list_workflows(query, limit=LOOKED_AT, rpc_timeout=RPC_TIMEOUT)
        ids = [run.id async for run in runs]
        ids += [each.workflow_id for _, each in _starts(schedule)]
        known = [schedule.info.created_at, schedule.info.last_updated_at, *map(scheduled_time, ids)]
        return max((at for at in known if at and at < instant(late.scheduled_at)), default=None)

    async def _others(self, late: LateStart) -> list[WorkflowExecution]:
        """Runs under the same id, and of newer times that were started before this one; not what a late run started itself."""
        before = instant(late.started_at) - timedelta(seconds=1)
        query = (
            f'WorkflowId = "{late.workflow_id}" OR (TemporalScheduledById = "{late.schedule}" AND ParentWorkflowId IS NULL'
            f' AND TemporalScheduledStartTime > "{late.scheduled_at}" AND StartTime < "{before.isoformat()}")'
        )
        runs = self._client.list_workflows(query, limit=LOOKED_AT, rpc_timeout=RPC_TIMEOUT)
        return [run async for run in runs if run.run_id != late.run_id]

    async def _waited(self, late: LateStart, schedule: ScheduleDescription) -> bool:
        """Whether the schedule's run before this one ended just before this one's start, which was late."""
        started = instant(late.started_at)
        before = [
            (at, each.workflow_id, each.first_execution_run_id)
            for at, each in _starts(schedule)
            if at <= started and each.workflow_id != late.workflow_id
        ]
        if not before:
            return False
        _, workflow_id, run_id = max(before)
        handle = self._client.get_workflow_handle(workflow_id, run_id=run_id)
        described = await handle.describe(rpc_timeout=RPC_TIMEOUT)
        closed = described.close_time
        if closed is None or not max(instant(late.scheduled_at), started - AT_ONCE) < closed <= started + AT_ONCE:
            return False
        return late.catchup.overlap != "cancel_other" or await self._was_at_work(described, late)

    async def _was_at_work(self, run: WorkflowExecutionDescription, late: LateStart) -> bool:
        """Whether a worker had the run when the late one was due; one that nobody had taken yet shows that the workers were away.

        The server cancels such a run and starts the newest once a worker has taken note of it (seen on 1.32.0).
        """
        handle = self._client.get_workflow_handle(run.id, run_id=run.run_id)
        async for event in handle.fetch_history_events(page_size=LOOKED_AT, rpc_timeout=RPC_TIMEOUT):
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED:
                return event.event_time.ToDatetime(UTC) <= instant(late.scheduled_at)
        return False


def _changed_since(late: LateStart, schedule: ScheduleDescription) -> bool:
    """Whether the server has not started this by itself: it was due before the schedule was made or changed, or is too old.

    An update makes the server forget what was due and not started, and the catch-up window bounds the rest (seen on 1.32.0).
    """
    scheduled, started = instant(late.scheduled_at), instant(late.started_at)
    jitter = timedelta(seconds=late.catchup.jitter)
    changes = (schedule.info.created_at, schedule.info.last_updated_at)
    if any(scheduled + jitter < at < started for at in changes if at):
        return True
    held = timedelta(seconds=late.catchup.window) + jitter + AFTER_THE_WINDOW
    return not overlap_policy(late.catchup.overlap).waits and started - scheduled > held


def _newer(others: list[WorkflowExecution], late: LateStart, occurrences: Occurrences) -> bool:
    """Whether a newer occurrence was started before this one; the server starts missed ones oldest first."""
    return any(_is_occurrence(run.id, late.job, occurrences) for run in others)


def _starts(schedule: ScheduleDescription) -> list[tuple[datetime, ScheduleActionExecutionStartWorkflow]]:
    """The newest ten, each with its moment."""
    done = ((each.started_at, each.action) for each in schedule.info.recent_actions)
    return [(at, action) for at, action in done if isinstance(action, ScheduleActionExecutionStartWorkflow)]


def _is_occurrence(workflow_id: str, job: str, occurrences: Occurrences) -> bool:
    """Whether the run stands for a time of the schedule; one triggered by hand stands for the moment of its trigger."""
    at = scheduled_time(workflow_id)
    known = occurrences.next_after(at - timedelta(seconds=1)) if at else None
    return known is not None and at is not None and stamp(known) == stamp(at) and workflow_id == occurrence_id(job, at)
