"""The activity that looks for runs which did not begin: a few exact questions for each job that was due, none for others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeGuard

from temporalio import activity
from temporalio.api.workflowservice.v1 import ListScheduleMatchingTimesRequest
from temporalio.client import (
    ScheduleActionExecutionStartWorkflow,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
)
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from activities.account.held_back import held_back
from activities.contract import OUTCOME_ATTRIBUTE
from activities.note import MOVING
from activities.notices.contract import LOOK_FOR_MISSED
from activities.occurrence import occurrence_id, run_among, stamp
from activities.overlap import overlap_policy
from activities.watchdog.contract import Finding, Look, Seen
from activities.watchdog.rules import Tally, begins_with, is_after_outage, is_to_be_asked, latest_to_ask

if TYPE_CHECKING:
    from temporalio.client import Client, ScheduleDescription

    from activities.steps.attempt import PreviousOccurrence
    from activities.watchdog.contract import WatchedJob

CONCURRENCY = 10
NOT_TAKEN = 2
"""Events of a run that no worker has taken: it was started, and its first task waits."""
NOT_DONE = frozenset({"too_late", "skipped"})
"""Outcomes of runs that began late and did nothing; for one that was superseded a newer one ran."""
GONE = Finding("other", "its schedule is missing; a sync creates it again")
JUST_AFTER = timedelta(microseconds=1)


class WatchActivities:
    """Works in the namespace of its client. `previous_occurrence` gives the job's last time before another."""

    def __init__(
        self,
        client: Client,
        previous_occurrence: PreviousOccurrence,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._previous_occurrence = previous_occurrence
        self._now = now

    @activity.defn(name=LOOK_FOR_MISSED)
    async def look_for_missed(self, look: Look) -> Seen:
        """What was missed since the last look. The first look, and the first after an outage, only begin."""
        request, state, now = look.request, look.state, self._now()
        if not state.looked_at:
            return Seen(begins_with(now))
        if is_after_outage(request, state, now):
            return Seen(replace(state, asked_at=begins_with(now).asked_at))
        asked = {
            job.job: (job, newest)
            for job in request.jobs
            if (newest := self._newest(job, now)) and is_to_be_asked(job, newest, state)
        }
        limit = asyncio.Semaphore(CONCURRENCY)

        async def find(job: WatchedJob, at: datetime) -> Finding | None:
            async with limit:
                if job.job in state.missing and await self._schedule(job.job) is None:
                    return GONE  # whatever ran before it went
                return await self._find(job, at, now)

        found = await asyncio.gather(*(find(job, at) for job, at in asked.values()))
        tally = Tally(state, now)
        for (job, at), finding in zip(asked.values(), found, strict=True):
            tally.take(job, at, finding)
        return Seen(tally.done(request), tally.missed)

    def _newest(self, job: WatchedJob, now: datetime) -> datetime | None:
        return self._previous_occurrence(job.times, latest_to_ask(job, now) + JUST_AFTER)

    async def _find(self, job: WatchedJob, at: datetime, now: datetime) -> Finding | None:
        """Why the run of a job at a time did not begin; None where it did, or was not to."""
        if run := await self._run(occurrence_id(job.job, at)):
            return _did_nothing(run) or _waits(run, job, now)
        schedule = await self._schedule(job.job)
        if schedule is None:
            return GONE
        changed = schedule.info.last_updated_at or schedule.info.created_at
        if changed and at <= changed:
            return None
        if (begins := schedule.schedule.spec.start_at) and at < begins:
            return None
        actions = [*(each.action for each in schedule.info.recent_actions), *schedule.info.running_actions]
        moved = run_among([each.workflow_id for each in actions if _is_run(each)], occurrence_id(job.job, at))
        if moved != occurrence_id(job.job, at) and (run := await self._run(moved)):
            return _did_nothing(run) or _waits(run, job, now)
        state = schedule.schedule.state
        if state.paused and state.note != MOVING:
            return Finding("paused", f"its schedule is paused: {state.note or 'there is no note'}")
        if state.limited_actions and not state.remaining_actions:
            return Finding("other", "its schedule has no remaining actions")
        return await self._instead(schedule, job, at, now)

    async def _instead(
        self, schedule: ScheduleDescription, job: WatchedJob, at: datetime, now: datetime
    ) -> Finding | None:
        """What held the run back, so that it was left out or waits for that one to end; or what ran after it."""
        due = await self._due_at(schedule, at)
        holds = overlap_policy(schedule.schedule.policy.overlap.name.lower()).holds_back
        newest = [each.action for each in schedule.info.recent_actions[-1:]]
        actions = [each for each in (*schedule.info.running_actions, *newest) if _is_run(each)]
        for name in dict.fromkeys(each.workflow_id for each in actions):
            run = await self._run(name)
            if run is None:
                continue
            if holds and held_back(due, due, run.start_time, run.close_time):
                return _decided_for_it(run) or _waits(run, job, now)
            if run.start_time > at:
                has_just_begun = run.start_time > latest_to_ask(job, now)
                return _decided_for_it(run) or (None if has_just_begun else _waits(run, job, now))
        return Finding("other", "its schedule has started no run; it may have been paused then")

    async def _due_at(self, schedule: ScheduleDescription, at: datetime) -> datetime:
        """The scheduled time with its jitter, as the server has it."""
        jitter = schedule.schedule.spec.jitter
        if not jitter:
            return at
        request = ListScheduleMatchingTimesRequest(namespace=self._client.namespace, schedule_id=schedule.id)
        request.start_time.FromDatetime(at - JUST_AFTER)
        request.end_time.FromDatetime(at + jitter + timedelta(seconds=1))
        answer = await self._client.workflow_service.list_schedule_matching_times(request)
        return answer.start_time[0].ToDatetime(UTC) if answer.start_time else at

    async def _run(self, name: str) -> WorkflowExecutionDescription | None:
        try:
            return await self._client.get_workflow_handle(name).describe()
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return None
            raise

    async def _schedule(self, name: str) -> ScheduleDescription | None:
        try:
            return await self._client.get_schedule_handle(name).describe()
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return None
            raise


def _is_run(action: object) -> TypeGuard[ScheduleActionExecutionStartWorkflow]:
    return isinstance(action, ScheduleActionExecutionStartWorkflow)


def _did_nothing(run: WorkflowExecutionDescription) -> Finding | None:
    """Whether a run began too late to do its work."""
    if not (outcome := _not_done(run)):
        return None
    return Finding("other", f"it could start only at {stamp(run.start_time)}, so it ended as {outcome}")


def _decided_for_it(run: WorkflowExecutionDescription) -> Finding | None:
    """Whether a late run before it, which speaks for all that was missed, let it go: after an outage the server starts but one."""
    if not (outcome := _not_done(run)):
        return None
    began = stamp(run.start_time)
    return Finding(
        "other", f"nothing could start before {began}; {run.id} ended as {outcome}, and stands for this time, too"
    )


def _not_done(run: WorkflowExecutionDescription) -> str:
    """How a run ended that did none of its work, where the namespace knows the search attribute that says so."""
    outcome = run.typed_search_attributes.get(SearchAttributeKey.for_keyword(OUTCOME_ATTRIBUTE))
    return outcome if outcome in NOT_DONE else ""


def _waits(run: WorkflowExecutionDescription, job: WatchedJob, now: datetime) -> Finding | None:
    """Whether a run has been waiting for a worker all the time."""
    if run.status != WorkflowExecutionStatus.RUNNING:
        return None
    since = f"the run {run.id} has waited for a worker since {stamp(run.start_time)}"
    if run.history_length <= NOT_TAKEN:
        return Finding("other", f"{since}; is one running for the task queue `{run.task_queue}`?")
    pending = run.raw_description.pending_activities
    limit = latest_to_ask(job, now).timestamp()
    if pending and all(
        not each.HasField("last_started_time") and each.scheduled_time.ToDatetime(UTC).timestamp() <= limit
        for each in pending
    ):
        return Finding("other", f"{since}: its steps wait in their task queues")
    return None
