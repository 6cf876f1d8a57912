"""The local activity that decides about a run that started late, by the server's evidence and the schedule's times."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

import structlog
from temporalio import activity
from temporalio.api.enums.v1 import EventType

from activities.account.reading import RPC_TIMEOUT
from activities.contract import DECIDE_LATE_START, IS_SCHEDULED_TIME, LateStart, LateVerdict, TimeQuestion
from activities.late.decision import decide, dropped, instant, started_late, waited_for_worker
from activities.late.evidence import Witness

if TYPE_CHECKING:
    from temporalio.client import Client

    from activities.late.due import Calendar

FEW_EVENTS = 10
_log: structlog.stdlib.BoundLogger = structlog.get_logger()


class LateStartActivities:
    """Works in the namespace of its client."""

    def __init__(self, client: Client, calendar: Calendar) -> None:
        self._client, self._calendar = client, calendar

    @activity.defn(name=DECIDE_LATE_START)
    async def decide_late_start(self, late: LateStart) -> LateVerdict:
        """The verdict. Raises RPCError where the server cannot be asked, so that it is asked again."""
        if waited_for_worker(late):
            late = replace(late, first_task_at=await self._first_taken(late))
        witness = Witness(self._client, self._calendar, late, activity.info().task_queue)
        findings = await witness.findings()
        verdict = replace(decide(late, findings.due, findings.evidence), repeat=findings.repeat)
        if verdict.not_run is None and started_late(late):
            verdict = replace(verdict, not_run=dropped(late, findings.due, findings.before))
        _log.info(
            "late start decided",
            action="late_start_decided",
            job=late.job,
            scheduled_time=late.scheduled_at,
            run_id=late.run_id,
            outcome="run" if verdict.run else verdict.outcome,
            instead=verdict.instead,
        )
        return verdict

    async def _first_taken(self, late: LateStart) -> str:
        """When a worker first took the run, which may have died with it: the run did not wait for one after that."""
        run = self._client.get_workflow_handle(late.workflow_id, run_id=late.run_id)
        async for event in run.fetch_history_events(page_size=FEW_EVENTS, rpc_timeout=RPC_TIMEOUT):
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED:
                return event.event_time.ToDatetime(UTC).isoformat()
        return late.first_task_at

    @activity.defn(name=IS_SCHEDULED_TIME)
    async def is_scheduled_time(self, question: TimeQuestion) -> bool:
        """Whether the job is due then, whatever its `start_at`; a run started by hand stands for a time at which it is not."""
        at = instant(question.at)
        return self._calendar.of_request(question.times).next_after(at - timedelta(seconds=1)) == at
