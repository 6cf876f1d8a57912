"""The states of all jobs of a namespace: one pass over List, the runs of a span, and a closer look at what seems amiss."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from activities.account.facts import TROUBLE
from activities.account.verdict import SLACK
from activities.contract import JOB_WORKFLOW, OWNER_ATTRIBUTE
from activities.note import synced_at
from activities.occurrence import job_of, stamp
from schedules.cron.occurrences import occurrences_of
from schedules.ledger.account import SECOND, account
from schedules.ledger.chains import chained
from schedules.ledger.occurrences import ledger
from schedules.ledger.pauses import pause_end
from schedules.ledger.records import gathered
from schedules.ledger.replaced import may_be_replaced, replaced
from schedules.ledger.state import JobState, state_of
from schedules.ledger.translate import SCHEDULED_BY, with_times

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from activities.account.facts import Run, Verdict
    from schedules.ledger.facts import Job
    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.records import Records
    from schedules.model import Times

MOST_RUNS = 20_000
FEW_JOBS = 50
"""The runs of so few jobs are asked for by name."""
MOST_TIMES = 200
"""Times of one job that are accounted for; of a job with more of them, the last."""
MOST_LOOKED_AT = 200
"""Jobs that are described, runs that are described and ends that are read, at most, each."""
SHRINK = 4
RUNNING = "ExecutionStatus = 'Running'"
PLAIN: frozenset[Verdict] = frozenset({"due", "not_yet_due", "buffered", "before_creation", "forgotten"})
"""What is told without its scheduler's history of a time at which nothing ran: for the rest all has to be read."""


@dataclass(frozen=True, slots=True)
class Overview:
    """`since` is later than was asked for where there were more runs than are read."""

    states: list[JobState]
    since: datetime
    runs: int
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Look:
    """One job, its runs, and from when on it is accounted for."""

    job: Job
    runs: Sequence[Run]
    since: datetime
    now: datetime

    @property
    def occurrences(self) -> list[Occurrence]:
        """Its ledger by what is known without its scheduler's history."""
        return ledger(self.job, self.runs, self.since, self.now, self.now)

    @property
    def state(self) -> JobState:
        """The state by the same."""
        return state_of(self.job, self.occurrences, self.runs, self.now, since=self.since)


@dataclass(frozen=True, slots=True)
class Close:
    """A job as described, with its state."""

    job: Job
    state: JobState


async def overview(
    records: Records, jobs: Sequence[Job], owner: str | None, since: datetime, now: datetime, *, all_jobs: bool
) -> Overview:
    """The states of the jobs, by name; `all_jobs` says that they are all that the owner has. Raises ServerError."""
    found, complete = await _runs(records, jobs, owner, since, all_jobs=all_jobs)
    if not complete:
        since = min((run.closed_at for run in found if run.closed_at), default=now)
    by_job = runs_by_job(jobs, found)
    await _add_last_runs(records, jobs, by_job)
    await _finish_runs(records, by_job, now)
    looks = [look_at(dated(job), by_job[job.name], since, now) for job in sorted(jobs, key=lambda job: job.name)]
    states = {look.job.name: look.state for look in looks}
    odd = [look for look in looks if _is_odd(look.job, states[look.job.name], look.runs)]
    closely = await gathered(lambda look: closer(records, look), odd[:MOST_LOOKED_AT])
    unsure = (replace(states[look.job.name], missed=None, skipped=None) for look in odd[MOST_LOOKED_AT:])
    states |= {state.name: state for state in (*(close.state for close in closely), *unsure)}
    return Overview(list(states.values()), since, len(found), complete)


def known_times(jobs: Iterable[Job], times: Mapping[str, Times]) -> list[Job]:
    """The jobs, those of which List shows too little with the times that their specs compile to."""
    return [with_times(job, times[job.name]) if not job.exact and job.name in times else job for job in jobs]


async def _runs(
    records: Records, jobs: Sequence[Job], owner: str | None, since: datetime, *, all_jobs: bool
) -> tuple[list[Run], bool]:
    """The runs that started since, and those that go on."""
    if not jobs:  # and perhaps no sync has ever been here, so that the namespace does not know the mark
        return [], True
    ours = [job for job in jobs if job.workflow_type == JOB_WORKFLOW]
    if all_jobs or len(jobs) > FEW_JOBS:
        found, complete = await _since(records, marked(owner), since)
    elif ours:
        names = " OR ".join("WorkflowId STARTS_WITH '" + job.prefix.replace("'", "''") + "'" for job in ours)
        found, complete = await _since(records, f"({names})", since)
    else:
        found, complete = [], True
    unmarked = [job.name for job in jobs if job.workflow_type != JOB_WORKFLOW]
    others = [
        await records.runs_with(SCHEDULED_BY, unmarked, when) for when in (RUNNING, f"StartTime >= '{stamp(since)}'")
    ]
    return list({run.run_id: run for runs in (found, *others) for run in runs}.values()), complete


async def _since(records: Records, which: str, since: datetime) -> tuple[list[Run], bool]:
    """Asked in two queries, for each of which a server has an index, and not in one with OR."""
    begun = records.runs(f"{which} AND StartTime >= '{stamp(since)}'", MOST_RUNS)
    going = records.runs(f"{which} AND {RUNNING} AND StartTime < '{stamp(since)}'", MOST_RUNS)
    both = await asyncio.gather(begun, going)
    return [run for each in both for run in each.runs], all(each.complete for each in both)


def marked(owner: str | None) -> str:
    """The visibility query for the runs of an owner, or of all owners."""
    return f"{OWNER_ATTRIBUTE} = '{owner}'" if owner else f"{OWNER_ATTRIBUTE} IS NOT NULL"


def runs_by_job(jobs: Sequence[Job], runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each of the jobs."""
    found: dict[str, list[Run]] = {job.name: [] for job in jobs}
    for run in runs:
        name = job_of(run.id)
        if (of := found.get(name if name in found else run.scheduled_by)) is not None:
            of.append(run)
    return found


async def _add_last_runs(records: Records, jobs: Sequence[Job], by_job: dict[str, list[Run]]) -> None:
    """The last run of each job that has none in the span."""
    ids = [job.recent[-1] for job in jobs if not by_job[job.name] and job.recent]
    for name, runs in runs_by_job(jobs, await records.runs_with("WorkflowId", ids)).items():
        by_job[name].extend(runs)


async def _finish_runs(records: Records, by_job: dict[str, list[Run]], now: datetime) -> None:
    """Adds the reason of the last failure, and whether a run that goes on waits for a worker."""
    failed: list[Run] = []
    going: list[Run] = []
    for runs in by_job.values():
        ended = [run for run in runs if run.closed_at is not None]
        last = max(ended, key=lambda run: run.scheduled_at, default=None)
        failed += [last] if last and last.verdict in TROUBLE else []
        failed += [run for run in ended if run.status == "terminated" and run.scheduled_by and run is not last]
        going += [run for run in runs if run.closed_at is None and run.started_at < now - SLACK]
    told = await records.with_results(failed[:MOST_LOOKED_AT])
    told += await records.with_waiting(sorted(going, key=lambda run: run.started_at)[:MOST_LOOKED_AT])
    new = {run.run_id: run for run in told}
    for runs in by_job.values():
        runs[:] = [new.get(run.run_id, run) for run in runs]


def dated(job: Job) -> Job:
    """When a sync made or changed it, as its note says; Describe would tell, at a call for each job."""
    if (synced := synced_at(job.note)) is None:
        return job
    verb, at = synced
    return replace(job, created_at=at, updated_at=None) if verb.startswith("create") else replace(job, updated_at=at)


def look_at(job: Job, runs: list[Run], since: datetime, now: datetime) -> Look:
    """The job since then, or for so long that there are not too many times."""
    span = now - since
    times = occurrences_of(job.times)
    while sum(1 for _ in islice(times.between(now - span, now), MOST_TIMES + 1)) > MOST_TIMES:
        span /= SHRINK
    return Look(job, replaced(job, chained(job, runs)), now - span, now)


def _is_odd(job: Job, state: JobState, runs: Sequence[Run]) -> bool:
    if job.paused or not job.exact or any(map(asks_for_more, state.occurrences)):
        return True
    return job.overlap is None and depends_on_overlap(state.occurrences, runs)


def asks_for_more(occurrence: Occurrence) -> bool:
    """Whether only a closer look tells why it has no run."""
    return occurrence.run is None and occurrence.verdict not in PLAIN


def depends_on_overlap(occurrences: Iterable[Occurrence], runs: Iterable[Run]) -> bool:
    """Whether the policy, which List does not show, makes a difference: to what may still wait, or to what was ended."""
    return any(each.verdict == "overlap_skipped" for each in occurrences) or may_be_replaced(runs)


async def closer(records: Records, look: Look) -> Close:
    """With all that the schedule, its scheduler's history and its late runs tell: the account that `runs` and `explain` give."""
    job = await records.job(look.job.name) or look.job
    found = await account(records, job, look.since, look.now, look.now, read=look.runs)
    told = {run.run_id: run for run in found.runs}
    runs = replaced(job, chained(job, [told.pop(run.run_id, run) for run in look.runs]))
    record = found.record
    if job.paused and record is None:
        record = await records.record(job.name, look.now - SECOND, look.now)
    pause = record.pause_at(look.now) if record and job.paused else None
    state = state_of(job, found.occurrences, runs, look.now, since=found.since, pause=pause)
    return Close(job, replace(state, pause_end=await pause_end(records, job, look.now)))
