"""The activity that looks for runs which did not begin: one exact question for each job that was due, and its account where that tells nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from temporalio import activity
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from activities.account.facts import MISSABLE
from activities.contract import OUTCOME_ATTRIBUTE
from activities.notices.contract import LOOK_FOR_MISSED
from activities.occurrence import occurrence_id, stamp
from activities.watchdog.contract import Finding, Look, Seen
from activities.watchdog.rules import Tally, begins_with, is_after_outage, is_to_be_asked, latest_to_ask

if TYPE_CHECKING:
    from temporalio.client import Client

    from activities.account.facts import Accounted, Run
    from activities.steps.attempt import PreviousOccurrence
    from activities.watchdog.contract import WatchedJob

CONCURRENCY = 10
NOT_TAKEN = 2
"""Events of a run that no worker has taken: it was started, and its first task waits."""
GONE = Finding("other", "its schedule is missing; a sync creates it again")
JUST_AFTER = timedelta(microseconds=1)


class AccountOf(Protocol):
    """What became of one time of a job, as `explain` tells it; None where the job has no schedule. Raises what a retry may mend."""

    async def __call__(self, job: str, at: datetime, now: datetime) -> Accounted | None:
        """Its account."""


class WatchActivities:
    """Works in the namespace of its client. `previous_occurrence` gives the job's last time before another."""

    def __init__(
        self,
        client: Client,
        previous_occurrence: PreviousOccurrence,
        account_of: AccountOf,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._previous_occurrence = previous_occurrence
        self._account_of = account_of
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
                return await self._find(job, at, now, was_missing=job.job in state.missing)

        found = await asyncio.gather(*(find(job, at) for job, at in asked.values()))
        tally = Tally(state, now)
        for (job, at), finding in zip(asked.values(), found, strict=True):
            tally.take(job, at, finding)
        return Seen(tally.done(request), tally.missed)

    def _newest(self, job: WatchedJob, now: datetime) -> datetime | None:
        return self._previous_occurrence(job.times, latest_to_ask(job, now) + JUST_AFTER)

    async def _find(self, job: WatchedJob, at: datetime, now: datetime, *, was_missing: bool) -> Finding | None:
        """Why the run of a job at a time did not begin; None where it did, or was not to."""
        run = await self._run(occurrence_id(job.job, at))
        if run and not was_missing and _outcome(run) not in MISSABLE:
            return _waits(run, job, now)
        account = await self._account_of(job.job, at, now)
        if account is None:
            return GONE  # whatever ran before it went
        if run and _outcome(run) not in MISSABLE:
            return _waits(run, job, now)
        if account.verdict == "paused":
            return Finding("paused", account.reason) if account.paused_now else None
        if account.run:
            return await self._of_run(account, account.run, job, now)
        latest = latest_to_ask(job, now)
        if any(run.scheduled_at < at and run.started_at > latest for run in account.open_runs):
            return Finding("begun", account.reason)  # a late run may still decide about this time
        if account.verdict in MISSABLE:
            return Finding("other", account.reason)
        holders = [await self._run(run.id) for run in account.open_runs if run.started_at <= latest]
        return next((finding for run in holders if run and (finding := _waits(run, job, now))), None)

    async def _of_run(self, account: Accounted, run: Run, job: WatchedJob, now: datetime) -> Finding | None:
        if account.verdict in MISSABLE - {"waiting"}:
            return Finding("other", account.reason or f"it ended as {account.verdict}")
        described = await self._run(run.id)
        return _waits(described, job, now) if described else None

    async def _run(self, name: str) -> WorkflowExecutionDescription | None:
        try:
            return await self._client.get_workflow_handle(name).describe()
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return None
            raise


def _outcome(run: WorkflowExecutionDescription) -> str:
    """How a run ended, where the namespace knows the search attribute that says so."""
    return run.typed_search_attributes.get(SearchAttributeKey.for_keyword(OUTCOME_ATTRIBUTE)) or ""


def _waits(run: WorkflowExecutionDescription, job: WatchedJob, now: datetime) -> Finding | None:
    """Whether a run has been waiting for a worker all the time."""
    if run.status != WorkflowExecutionStatus.RUNNING:
        return None
    since = f"the run {run.id} has waited for a worker since {stamp(run.start_time)}"
    if run.history_length <= NOT_TAKEN:
        has_just_begun = (now - run.start_time).total_seconds() < job.grace / 2
        return Finding(
            "begun" if has_just_begun else "other", f"{since}; is one running for the task queue `{run.task_queue}`?"
        )
    pending = run.raw_description.pending_activities
    limit = latest_to_ask(job, now).timestamp()
    if pending and all(
        not each.HasField("last_started_time") and each.scheduled_time.ToDatetime(UTC).timestamp() <= limit
        for each in pending
    ):
        return Finding("other", f"{since}: its steps wait in their task queues")
    return None
