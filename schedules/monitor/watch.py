"""Looks at the jobs of a namespace again and again, at the price of a few pages: what has ended since, and what goes on."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from activities.account.facts import NEVER
from activities.account.verdict import SLACK
from activities.contract import JOB_WORKFLOW
from activities.occurrence import stamp
from schedules.ledger.overview import MOST_RUNS, RUNNING, closer, known_times, marked, runs_by_job
from schedules.ledger.port import Found
from schedules.ledger.records import gathered
from schedules.ledger.translate import SCHEDULED_BY
from schedules.monitor.durations import read_durations, taken
from schedules.monitor.figures import Figures, figures_of
from schedules.monitor.monitored_job import MonitoredJob

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from activities.account.facts import Run
    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.ledger.selection import Selection

DAY = timedelta(days=1)
VISIBILITY_LAG = timedelta(minutes=2)
"""Ends of so long ago are read again; a run that is nowhere after as long has been deleted."""
MOST_CLOSER, MOST_WAITING, MOST_LAST = 200, 100, 2_000
"""Jobs that are looked at closely, runs that are described and last runs that are read, in one look."""
PAUSES_BACK = timedelta(days=30)


def forget(_name: str, _runs: Sequence[Run]) -> None:
    """For those who want no more of runs that are not kept."""


class Watch:
    """The jobs of a selection from one poll to the next, kept in memory alone; `jobs` are those of the last poll.

    `unexplained` counts the jobs that still wait for a closer look. `counted_from` is None where every run of the day before
    the first look was read, else from when on. `let_go` is given the job and those of its runs that are too many to be kept.
    """

    def __init__(
        self, records: Records, meant: Selection, let_go: Callable[[str, Sequence[Run]], None] = forget
    ) -> None:
        self.jobs: Mapping[str, Job] = {}
        self.known: dict[str, MonitoredJob] = {}
        self.counted_from: datetime | None = None
        self.unexplained = 0
        self._begin = NEVER
        self._looked_at = NEVER
        self._let_go = let_go
        self._records = records
        self._meant = meant
        self._read_to: datetime | None = None
        self._taken: set[str] = set()

    async def look(self, now: datetime) -> None:
        """Reads what is new. Raises ServerError, and what was known before stays known."""
        listed = [job for job in await self._records.jobs(self._meant.owner) if self._meant.takes(job.name)]
        self.known = {job.name: self.known.get(job.name) or MonitoredJob(job) for job in listed}
        await self._read_runs(listed, now)
        await self._read_last_runs(listed)
        await self._ask_for_workers(now)
        await read_durations(self._records, self.known.values())
        begin = max(now - DAY, self.counted_from or now - DAY)
        for job in known_times(listed, self._meant.times):
            self.known[job.name].update(job, begin, now)
        await self._look_closer(now)
        self.jobs = {job.name: job for job in listed}
        self._begin, self._looked_at = begin, now

    @property
    def figures(self) -> list[Figures]:
        """Of each job, as of the last look."""
        return [
            figures_of(known.job, known.state, known.runs, self._begin, self._looked_at)
            for known in self.known.values()
            if known.state
        ]

    async def _read_runs(self, jobs: Sequence[Job], now: datetime) -> None:
        if not jobs:  # and perhaps the namespace does not know the mark
            return
        since = self._read_to - VISIBILITY_LAG if self._read_to else now - DAY
        going, ended = await self._runs(jobs, since)
        if not ended.complete and self.counted_from is None:
            self.counted_from = min(run.closed_at for run in ended.runs if run.closed_at)
        for name, runs in runs_by_job(jobs, [*going.runs, *ended.runs]).items():
            self._remember(name, runs)
        ids = {run.run_id for run in going.runs}
        self._taken &= ids
        if going.complete:
            for known in self.known.values():
                known.memory.forget_ended(ids, now - VISIBILITY_LAG)
        self._read_to = now

    async def _runs(self, jobs: Sequence[Job], since: datetime) -> tuple[Found, Found]:
        """The runs that go on, and those that have ended since."""
        marks, ends = marked(self._meant.owner), f"CloseTime >= '{stamp(since)}'"
        going, ended = await asyncio.gather(
            self._records.runs(f"{marks} AND {RUNNING}", MOST_RUNS),
            self._records.runs(f"{marks} AND {ends}", MOST_RUNS),
        )
        unmarked = [job.name for job in jobs if job.workflow_type != JOB_WORKFLOW]
        if unmarked:
            going.runs.extend(await self._records.runs_with(SCHEDULED_BY, unmarked, RUNNING))
            ended.runs.extend(await self._records.runs_with(SCHEDULED_BY, unmarked, ends))
        return going, ended

    async def _read_last_runs(self, jobs: Sequence[Job]) -> None:
        """Of a job without a success in mind the runs that List names, from the last one back, one a look."""
        ids: list[str] = []
        for job in jobs:
            if len(ids) == MOST_LAST:
                break
            memory = self.known[job.name].memory
            if not any(run.verdict == "succeeded" for run in memory.runs):
                known = {run.id for run in memory.runs} | memory.asked
                found = next((each for each in reversed(job.recent) if each not in known), None)
                ids += [found] if found else []
                memory.asked = memory.asked.intersection(job.recent) | set(ids[-1:] if found else ())
        for name, runs in runs_by_job(jobs, await self._records.runs_with("WorkflowId", ids)).items():
            self._remember(name, runs)

    def _remember(self, name: str, runs: Sequence[Run]) -> None:
        if gone := self.known[name].memory.take(runs):
            self._let_go(name, gone)

    async def _ask_for_workers(self, now: datetime) -> None:
        """Whether runs that go on have been taken by a worker; of those that have, never again."""
        going = [
            run
            for known in self.known.values()
            for run in known.memory.runs
            if run.closed_at is None and run.started_at < now - SLACK and run.run_id not in self._taken
        ]
        going.sort(key=lambda run: run.started_at)
        told: list[Run] = await self._records.with_waiting(going[:MOST_WAITING])
        self._taken.update(run.run_id for run in told if not run.waiting)
        by_id = {run.run_id: run for run in told}
        for known in self.known.values():
            for run in known.memory.runs:
                if run.run_id in by_id:
                    known.memory.mark_waiting(taken(run, by_id[run.run_id], now))

    async def _look_closer(self, now: datetime) -> None:
        """At those that ask for it, the longest waiting first."""
        waiting = sorted(
            (known for known in self.known.values() if known.asks(now)), key=lambda known: known.described_at
        )
        await gathered(lambda known: self._learn(known, now), waiting[:MOST_CLOSER])
        self.unexplained = len(waiting[MOST_CLOSER:])

    async def _learn(self, known: MonitoredJob, now: datetime) -> None:
        if known.look is None:
            return
        close = await closer(self._records, known.look)
        paused_at = close.state.paused_at or known.paused_at
        if close.job.paused and paused_at is None:
            record = await self._records.record(close.job.name, now - PAUSES_BACK, now)
            pause = record.pause_at(now) if record else None
            paused_at = pause.at if pause else None
        known.learn(close, paused_at if close.job.paused else None, now)
