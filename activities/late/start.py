"""The local activity that decides about a run that started late: it asks the server why, and the schedule's times what was missed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import structlog
from temporalio import activity
from temporalio.service import RPCError

from activities.contract import DECIDE_LATE_START, LateStart, LateVerdict
from activities.late.decision import UNKNOWN_YET, Evidence, decide, dropped, started_late
from activities.late.evidence import Witness

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.client import Client

    from activities.contract import NotRun, TimesRequest
    from activities.late.decision import Occurrences

_log: structlog.stdlib.BoundLogger = structlog.get_logger()


class LateStartActivities:
    """Decides with what the server tells, and without it where it cannot be asked."""

    def __init__(self, client: Client, occurrences: Callable[[TimesRequest], Occurrences]) -> None:
        """`occurrences` makes the times of a job ready to be asked for."""
        self._witness = Witness(client)
        self._occurrences = occurrences

    @activity.defn(name=DECIDE_LATE_START)
    async def decide_late_start(self, late: LateStart) -> LateVerdict:
        """The verdict; an unreachable server fails nothing."""
        if await self._asked_for(late):
            return LateVerdict(run=True)
        occurrences = self._occurrences(late.times)
        verdict, evidence = decide(late, occurrences, UNKNOWN_YET), Evidence()
        if not verdict.run:  # nothing that the server can tell keeps a run from running that runs without it
            evidence = await self._evidence(late, occurrences)
            verdict = decide(late, occurrences, evidence)
        if verdict.not_run is None and not evidence.by_hand:
            verdict = replace(verdict, not_run=await self._dropped(late, occurrences))
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

    async def _asked_for(self, late: LateStart) -> bool:
        try:
            return await self._witness.asked_for(late)
        except RPCError:
            return False

    async def _evidence(self, late: LateStart, occurrences: Occurrences) -> Evidence:
        try:
            return await self._witness.evidence(late, occurrences)
        except RPCError as error:
            _log.warning("late start unexplained", action="late_start_unexplained", job=late.job, error=str(error))
            return Evidence()

    async def _dropped(self, late: LateStart, occurrences: Occurrences) -> NotRun | None:
        """After an outage the server starts none of those that the catch-up window does not hold, or only the newest."""
        if not started_late(late):
            return None
        try:
            return dropped(late, occurrences, await self._witness.started_before(late))
        except RPCError:
            return None
