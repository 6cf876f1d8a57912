"""The account of one job from a live namespace: reads what its ledger needs, and the scheduler's history where something did not run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from activities.account.queue import AT_ONCE
from schedules.cron.occurrences import occurrences_of
from schedules.ledger.occurrences import ledger

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from activities.account.facts import Run
    from activities.account.record import SchedulerRecord
    from schedules.ledger.facts import Job
    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.port import JobRecords

MOST = 1_000
"""Occurrences and runs of one account."""
MOST_AROUND = 100
SECOND = timedelta(seconds=1)
BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
AFTERWARDS = timedelta(days=1)
"""Late runs that account for earlier occurrences are looked for among those scheduled so much later."""


@dataclass(frozen=True, slots=True)
class Account:
    """`since` is later than was asked for where there was too much; `record` was read only if something did not run."""

    job: Job
    since: datetime
    occurrences: list[Occurrence]
    runs: Sequence[Run]
    record: SchedulerRecord | None = None


async def account(
    records: JobRecords,
    job: Job,
    since: datetime,
    until: datetime,
    now: datetime,
    *,
    read: Sequence[Run] | None = None,
) -> Account:
    """Every occurrence of a job from since to until, the newest `MOST` of them; raises ServerError.

    How a run ended is read of all; or, where `read` are the runs that were read already, of those whose end was read and of those
    that may account for others. No query finds ids with quotes, backslashes or line breaks: such runs are known from `read` alone.
    """
    since = max(since, _bound(job, until))
    found = await records.runs_of(job, since, until, MOST)
    if not found.complete:
        since = min(run.scheduled_at for run in found.runs)
    of_span = {run.run_id: run for run in (*(read or ()), *found.runs) if since <= run.scheduled_at <= until}
    ends = None if read is None else {run.run_id for run in read if run.result or run.said}
    runs = [*await _told(records, job, list(of_span.values()), ends), *await _around(records, job, since, until, now)]
    runs += await _before_newest(records, job, runs)
    occurrences = ledger(job, runs, since, until, now)
    gaps = [each.scheduled_at for each in occurrences if each.run is None and each.scheduled_at <= now]
    asked = [each.scheduled_at for each in occurrences if _may_be_asked_for(job, each)]
    changed = [since] if job.updated_at and job.updated_at > since else []
    if not gaps and not asked and not changed:
        return Account(job, since, occurrences, runs)
    record = await records.record(job.name, min([*gaps, *asked, *changed]), now)
    jittered = await records.jittered(job, gaps)
    occurrences = ledger(job, runs, since, until, now, record, jittered)
    if lost := [each.scheduled_at for each in occurrences if _is_unexplained(job, each)]:
        silences = await records.quiet(job, [jittered.get(at, at) for at in lost])
        quiet = [at for at in lost if jittered.get(at, at) in silences]
        occurrences = ledger(job, runs, since, until, now, record, jittered, quiet)
    return Account(job, since, occurrences, runs, record)


def _is_unexplained(job: Job, occurrence: Occurrence) -> bool:
    """Whether the server may have been away, which the V2 scheduler has no record of."""
    return job.is_v2 and occurrence.run is None and occurrence.verdict == "missed" and not occurrence.certain


def _may_be_asked_for(job: Job, occurrence: Occurrence) -> bool:
    """Whether a trigger or a backfill may have started it."""
    run = occurrence.run
    return run is not None and (not occurrence.expected or bool(occurrence.others) or run.lateness > job.on_time)


def last_times(job: Job, count: int, now: datetime) -> list[datetime]:
    """The last scheduled times up to an instant, newest first, as many as there are."""
    times = occurrences_of(job.times)
    found: list[datetime] = []
    before = now + SECOND
    while len(found) < count and (at := times.previous_before(before)) is not None:
        found.append(at)
        before = at
    return found


def _bound(job: Job, until: datetime) -> datetime:
    """From when on there are at most so many times: a guess by halves, since looking back is slow."""
    times, span = occurrences_of(job.times), timedelta(days=365 * 10)
    while sum(1 for _ in islice(times.between(until - span, until), MOST + 1)) > MOST:
        span /= 2
    return until - span


def _may_account(job: Job, run: Run) -> bool:
    """Whether it may have been late, be it that a worker took it late, and so have decided about other occurrences."""
    done = run.closed_at is not None and run.closed_at - run.scheduled_at > job.on_time
    return bool(run.marked or run.parent) or done


async def _told(records: JobRecords, job: Job, runs: Sequence[Run], ends: Collection[str] | None) -> list[Run]:
    newest_first = sorted(runs, key=lambda run: run.started_at, reverse=True)
    chosen = newest_first
    if ends is not None:
        accounting = [run for run in newest_first if _may_account(job, run)][:MOST_AROUND]
        chosen = list({run.run_id: run for run in (*accounting, *(run for run in runs if run.run_id in ends))}.values())
    told = {run.run_id: run for run in await records.with_results(chosen)}
    return await records.with_waiting(told.get(run.run_id, run) for run in runs)


async def _before_newest(records: JobRecords, job: Job, runs: Sequence[Run]) -> list[Run]:
    """The runs that ended as the newest one began: whether it waited for them tells which one waits now."""
    if job.overlap != "buffer_one" or not job.waiting or not runs:
        return []
    newest, read = max(runs, key=lambda run: run.scheduled_at), {run.run_id for run in runs}
    if newest.started_at - newest.scheduled_at <= AT_ONCE:
        return []
    before, ended = newest.scheduled_at - SECOND, newest.started_at - AT_ONCE
    found = await records.runs_of(job, BEGIN, before, MOST_AROUND, open_after=ended)
    return [run for run in found.runs if run.run_id not in read]


async def _around(records: JobRecords, job: Job, since: datetime, until: datetime, now: datetime) -> list[Run]:
    """Runs of other times that have a say: earlier ones at work later, and late ones that account for others."""
    before = since - SECOND  # a run that has just ended may have held back what was due then
    earlier = records.runs_of(job, BEGIN, before, MOST_AROUND, open_after=before)
    end = min(until + AFTERWARDS, now)
    later = records.runs_of(job, until + SECOND, end, MOST) if end > until else None
    found = await asyncio.gather(earlier, *([later] if later else []))
    own = [run for each in found for run in each.runs]
    going = [run for run in own if run.closed_at is None][:MOST_AROUND]
    telling = [run for run in own if run.closed_at and (run.scheduled_at < since or _may_account(job, run))][
        :MOST_AROUND
    ]
    told = {run.run_id: run for run in [*await records.with_waiting(going), *await records.with_results(telling)]}
    return [told.get(run.run_id, run) for run in own]
