"""The activities by which a run tells the incident of its job how it ended, and the incident looks after the schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog
from temporalio import activity
from temporalio.client import ScheduleOverlapPolicy
from temporalio.service import RPCError, RPCStatusCode

from activities.late.decision import instant
from activities.note import RESUMED
from activities.notices.contract import (
    ENDED_SIGNAL,
    INCIDENT_MEMO,
    INCIDENT_PREFIX,
    INCIDENT_WORKFLOW,
    PAUSE_MARK,
    REPORT_ENDING,
    TEND_SCHEDULE,
    IncidentState,
    Report,
    Standing,
    Tended,
    Tending,
    incident_memo,
)
from activities.notices.current import alert_request
from activities.notices.success import success_since

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.client import Client, ScheduleDescription, ScheduleHandle


class ReportActivities:
    """Works in the namespace of its client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def activities(self) -> list[Callable[..., Any]]:
        """Both activities, for `Worker(activities=…)`."""
        return [self.report_ending, self.tend_schedule]

    @activity.defn(name=REPORT_ENDING)
    async def report_ending(self, report: Report) -> None:
        """Signals the job's incident; a failure opens one where there is none."""
        name = INCIDENT_PREFIX + report.job
        if report.outcome == "succeeded":
            try:
                await self._client.get_workflow_handle(name).signal(ENDED_SIGNAL, report)
            except RPCError as error:
                if error.status != RPCStatusCode.NOT_FOUND:  # No incident is open: all is well.
                    raise
            return
        await self._client.start_workflow(
            INCIDENT_WORKFLOW,
            IncidentState(),
            id=name,
            task_queue=activity.info().task_queue,
            start_signal=ENDED_SIGNAL,
            start_signal_args=[report],
            memo={INCIDENT_MEMO: incident_memo(report)},
            static_summary=f"{report.job} fails",
        )

    @activity.defn(name=TEND_SCHEDULE)
    async def tend_schedule(self, tending: Tending) -> Tended:
        """Does the deed where the schedule stands as that needs it: what an operator has done to it stays."""
        handle = self._client.get_schedule_handle(tending.job)
        try:
            schedule = await handle.describe()
            before = _standing(schedule)
            if tending.since:
                return await self._look(tending, schedule)
            if not _applies(tending, before):
                return Tended(before)
            await _carry_out(handle, tending)
            after = _standing(await handle.describe())
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            return Tended("gone")
        structlog.get_logger().warning(
            "schedule tended", action="schedule_tended", job=tending.job, deed=tending.deed, standing=after
        )
        return Tended(after, changed=True)

    async def _look(self, tending: Tending, schedule: ScheduleDescription) -> Tended:
        since = instant(tending.since)
        success = await success_since(self._client, tending.job, since)
        if success is None and (schedule.info.created_at > since or not await self._is_told_of(schedule)):
            return Tended("gone")
        return Tended(_standing(schedule), success=success)

    async def _is_told_of(self, schedule: ScheduleDescription) -> bool:
        """Whether the job, as it is now, has failures that anything follows from."""
        alerts = await alert_request(self._client, schedule)
        return alerts is not None and alerts.wants_reports


def _applies(tending: Tending, standing: Standing) -> bool:
    if tending.deed == "pause":
        return standing == "going"
    return tending.deed in {"resume", "try_once"} and standing == "paused_by_us"


def _standing(schedule: ScheduleDescription) -> Standing:
    state = schedule.schedule.state
    if not state.paused:
        return "going"
    return "paused_by_us" if (state.note or "").startswith(PAUSE_MARK) else "paused_by_other"


async def _carry_out(handle: ScheduleHandle, tending: Tending) -> None:
    match tending.deed:
        case "pause":
            await handle.pause(note=tending.note)
        case "resume":
            await handle.unpause(note=RESUMED)
        case "try_once":
            await handle.trigger(overlap=ScheduleOverlapPolicy.SKIP)
