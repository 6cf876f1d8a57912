"""What a namespace keeps of jobs and runs, in memory, with the habits of the server: the twin of `schedules.ledger.records`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from activities.account.silence import ABSENCE
from schedules.ledger.chains import chained
from schedules.ledger.port import Found

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from activities.account.facts import Run
    from activities.account.record import SchedulerRecord
    from schedules.ledger.facts import Job

PAGE = 1000


@dataclass
class RecordsInMemory:
    """As JobRecords.

    Like the server it finds runs by the text of their ids, lists those that go on before those that ended, the newest first, gives
    whole pages, shows no result and no waiting of a listed run, and forgets a run with its results alike.
    """

    #: By name, as `job` describes them.
    described: dict[str, Job] = field(default_factory=dict)
    #: By run id, with results and waiting as they are.
    kept: dict[str, Run] = field(default_factory=dict)
    records: dict[str, SchedulerRecord] = field(default_factory=dict)
    #: By job and scheduled time, when it came with its jitter.
    came: dict[tuple[str, datetime], datetime] = field(default_factory=dict)
    page: int = PAGE

    def add(self, *runs: Run) -> None:
        """Runs as they are now; one of the same run id stands for the one before."""
        self.kept |= {run.run_id: run for run in runs}

    async def jobs(self, owner: str | None) -> list[Job]:
        """See JobRecords."""
        return [job for job in self.described.values() if job.owner and owner in {None, job.owner}]

    async def job(self, name: str) -> Job | None:
        """See JobRecords."""
        return self.described.get(name)

    async def runs_of(
        self, job: Job, since: datetime, until: datetime, most: int | None = None, *, open_after: datetime | None = None
    ) -> Found:
        """See JobRecords."""
        first, last = job.occurrence_id(since), job.occurrence_id(until)
        matching = [run for run in self.kept.values() if first <= run.id <= last and _open(run, open_after)]
        listed = sorted(map(_as_listed, matching), key=_newest_first)
        pages = max(1, -(-len(listed) // self.page))
        if most is not None:
            pages = min(pages, max(1, -(-most // self.page)))
        read = listed[: pages * self.page]
        own = [run for run in read if run.id == job.occurrence_id(run.scheduled_at)]
        return Found(chained(job, own), complete=len(read) == len(listed))

    async def with_results(self, runs: Iterable[Run]) -> list[Run]:
        """See JobRecords."""
        return [self._with_result(run) for run in runs]

    def _with_result(self, run: Run) -> Run:
        kept = self.kept.get(run.run_id)
        return run if kept is None or run.closed_at is None else replace(run, result=kept.result, said=kept.said)

    async def with_waiting(self, runs: Iterable[Run]) -> list[Run]:
        """See JobRecords."""
        return [self._with_waiting(run) for run in runs]

    def _with_waiting(self, run: Run) -> Run:
        kept = self.kept.get(run.run_id)
        return run if kept is None or run.status != "running" else replace(run, waiting=kept.waiting)

    async def record(self, schedule_id: str, since: datetime, until: datetime) -> SchedulerRecord | None:
        """See JobRecords; the whole record, which covers any span."""
        del since, until
        return self.records.get(schedule_id)

    async def jittered(self, job: Job, times: Sequence[datetime]) -> dict[datetime, datetime]:
        """See JobRecords."""
        return {at: came for at in times if (came := self.came.get((job.name, at))) is not None}

    async def quiet(self, job: Job, times: Sequence[datetime]) -> frozenset[datetime]:
        """See JobRecords; the moments at which a run started or ended are those of the runs that are kept."""
        late_after = max(job.on_time - job.jitter, ABSENCE)
        signs = [at for run in self.kept.values() for at in (run.started_at, run.closed_at) if at]
        return frozenset(
            at for at in times if not any(at + late_after / 4 <= sign <= at + late_after for sign in signs)
        )


def _as_listed(run: Run) -> Run:
    return replace(run, result=None, said="", waiting=False)


def _open(run: Run, after: datetime | None) -> bool:
    return after is None or run.closed_at is None or run.closed_at > after


def _newest_first(run: Run) -> tuple[bool, float]:
    return run.closed_at is not None, -(run.closed_at or run.started_at).timestamp()
