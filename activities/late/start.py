"""The local activity that decides about a run that started late, by the server's evidence and the schedule's times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog
from temporalio import activity

from activities.contract import DECIDE_LATE_START, LateStart, LateVerdict
from activities.late.decision import decide, dropped, started_late
from activities.late.evidence import Witness

if TYPE_CHECKING:
    from temporalio.client import Client

    from activities.late.due import Calendar

_log: structlog.stdlib.BoundLogger = structlog.get_logger()


class LateStartActivities:
    """Works in the namespace of its client."""

    def __init__(self, client: Client, calendar: Calendar) -> None:
        self._client, self._calendar = client, calendar

    @activity.defn(name=DECIDE_LATE_START)
    async def decide_late_start(self, late: LateStart) -> LateVerdict:
        """The verdict. Raises RPCError where the server cannot be asked, so that it is asked again."""
        witness = Witness(self._client, self._calendar, late, activity.info().task_queue)
        findings = await witness.findings()
        verdict = decide(late, findings.due, findings.evidence)
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
