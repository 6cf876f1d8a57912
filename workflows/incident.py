"""The incident of a job: open from its first failure until a run succeeds, then gone without a trace in what comes after."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.notices.contract import (
        INCIDENT_MEMO,
        INCIDENT_WORKFLOW,
        TEND_SCHEDULE,
        Deed,
        Event,
        IncidentState,
        Report,
        Tended,
        Tending,
        incident_memo,
    )
    from workflows import streak
    from workflows.notices import notice_of, pause_note
    from workflows.outbox import Outbox

if TYPE_CHECKING:
    from collections.abc import Sequence

TENDING_TIMEOUT, TENDING_GIVEN_UP = timedelta(seconds=30), timedelta(hours=1)
LOOKS = "incident-looks-for-successes"
REMINDED = frozenset({"going", "paused_by_us"})
"""How the schedule stands of a job whose reminders go on."""


@workflow.defn(name=INCIDENT_WORKFLOW, sandboxed=False)
class IncidentWorkflow:
    """One for each job that fails: runs signal how they ended, in whatever order that happens.

    Being one workflow, it counts and tells each thing once, and its reminders and tries need no process to be up.
    """

    def __init__(self) -> None:
        self._reports: list[Report] = []
        self._state = streak.CALM
        self._outbox = Outbox()
        self._looks = True
        self._named = False

    @workflow.run
    async def run(self, state: IncidentState) -> None:
        """Ends once a run has succeeded, or the job is no more, and everyone has been told."""
        self._looks = workflow.patched(LOOKS)
        self._state, self._named = self._as_known(state), bool(state.failures)
        while True:
            await self._take_what_has_come()
            settled = self._outbox.idle and not self._reports
            if streak.is_over(self._state) and settled:
                return
            if workflow.info().is_continue_as_new_suggested() and settled:
                workflow.continue_as_new(self._state)
            await self._wait()

    @workflow.signal
    def ended(self, report: Report) -> None:
        """A run of the job has failed, or succeeded after it may have failed."""
        self._reports.append(report)

    async def _wait(self) -> None:
        at, now = streak.next_due(self._state), workflow.now().timestamp()
        with suppress(asyncio.TimeoutError):
            await workflow.wait_condition(self._has_work, timeout=None if at is None else max(at - now, 0.001))

    def _has_work(self) -> bool:
        over = streak.is_over(self._state) or workflow.info().is_continue_as_new_suggested()
        return bool(self._reports) or (over and self._outbox.idle)

    async def _take_what_has_come(self) -> None:
        while self._reports:
            report = self._reports.pop(0)
            if self._looks and streak.is_open(self._state, report):
                await self._learn_what_was_between(report)
            await self._take(report)
        if self._state.last is not None:
            await self._do_what_is_due(self._state.last)

    async def _learn_what_was_between(self, report: Report) -> None:
        """A failure after a success, or of a job that was made anew, is an incident of its own."""
        if (last := self._state.last) is None:
            return
        if success := streak.success_between(self._state, report):
            await self._take(streak.report_of(success, last))
        elif not report.after_failure and report.success_before is None:
            await self._look(last)

    async def _take(self, report: Report) -> None:
        before = self._state
        state, actions = streak.take(before, report, workflow.now().timestamp())
        self._state = self._as_known(state)
        if self._looks and not before.failures and self._state.failures:
            self._name(report)
        await self._act(actions, before if report.outcome == "succeeded" else self._state, report)

    def _name(self, report: Report) -> None:
        """Whoever started this workflow has named its first incident."""
        if self._named:
            workflow.upsert_memo({INCIDENT_MEMO: incident_memo(report)})
        self._named = True

    async def _do_what_is_due(self, last: Report) -> None:
        self._state, actions = streak.due(self._state, workflow.now().timestamp())
        if self._looks and not {"look", "reminder"}.isdisjoint(actions):
            first_run, answer = self._state.first_run, await self._look(last)
            if self._state.first_run != first_run:
                return
            if answer.standing not in REMINDED:
                actions = [action for action in actions if action != "reminder"]
        await self._act(actions, self._state, last)

    async def _look(self, last: Report) -> Tended:
        """How the job stands. A success of which nobody told is taken as if its run had; the incident of a job that is gone ends."""
        answer = await self._tend("look", self._state, last)
        if answer.success is not None:
            await self._take(streak.report_of(answer.success, last))
        return answer

    async def _act(self, actions: Sequence[streak.Action], seen: IncidentState, last: Report) -> None:
        """Does what is to be done, the schedule first; `seen` is the incident as those told are to see it."""
        paused = False
        for action in actions:
            if action in {"pause", "resume", "try_once"}:
                paused = (await self._tend(action, seen, last)).changed and action == "pause"
        if paused:
            self._tell("paused", seen, last)
            if self._looks:
                self._state = streak.told_of_pause(self._state, workflow.now().timestamp())
            return
        for action in actions:
            if action in {"failure", "recovery"} or (action == "reminder" and await self._to_be_reminded(seen, last)):
                self._tell(action, seen, last)

    async def _to_be_reminded(self, seen: IncidentState, last: Report) -> bool:
        """Not of a job that is no more, nor of one that an operator has paused; what looks has asked before."""
        return self._looks or (await self._tend("look", seen, last)).standing in REMINDED

    def _as_known(self, state: IncidentState) -> IncidentState:
        """With a time to look, and with none for an incident that began before there were looks."""
        if not self._looks:
            return replace(state, look_at=None)
        return streak.with_look(state, workflow.now().timestamp())

    async def _tend(self, deed: Deed, seen: IncidentState, last: Report) -> Tended:
        try:
            answer: Tended = await workflow.execute_activity(
                TEND_SCHEDULE,
                self._tending(deed, seen, last),
                result_type=Tended,
                start_to_close_timeout=TENDING_TIMEOUT,
                schedule_to_close_timeout=TENDING_GIVEN_UP,
                retry_policy=RetryPolicy(maximum_interval=timedelta(minutes=1)),
                summary=deed,
            )
        except ActivityError as error:
            workflow.logger.warning("schedule not tended: %s: %s", deed, error.cause or error)
            return Tended("going")
        self._state = streak.tended(self._state, answer)
        return answer

    def _tending(self, deed: Deed, seen: IncidentState, last: Report) -> Tending:
        note = pause_note(seen, last) if deed == "pause" else ""
        return Tending(last.job, deed, note, self._state.failed_at if deed == "look" and self._looks else "")

    def _tell(self, event: Event, seen: IncidentState, last: Report) -> None:
        alerts = last.alerts
        other = event == "recovery" and alerts.on_recovery is not None
        targets = (alerts.on_recovery or []) if other else alerts.on_failure
        self._state = replace(self._state, notices=self._state.notices + 1)
        key = f"{last.project}/{last.environment}/{last.job}/{seen.first_run}/{event}/{self._state.notices}"
        self._outbox.post(notice_of(event, seen, last), targets, key)
