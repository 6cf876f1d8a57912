"""All that the page shows, as JSON. Pure."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from schedules.board.cells import CELL
from schedules.board.day import Day
from schedules.board.kinds import KINDS
from schedules.board.past import Frame, past
from schedules.board.row import Row, missing_json, row_json, row_of
from schedules.board.start_counts import STEP, Grid
from schedules.cron.occurrences import next_after
from schedules.ledger.state import missing_job
from schedules.monitor.watch import VISIBILITY_LAG

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.ledger.facts import Job
    from schedules.ledger.selection import Selection
    from schedules.ledger.state import JobState
    from schedules.model import Times
    from schedules.monitor.monitored_job import MonitoredJob

SPAN = timedelta(hours=24)
"""Shown before and after now."""
REREAD = VISIBILITY_LAG + timedelta(minutes=1)
"""Runs that ended so long before a look may be read again by the next one."""


class Picture:
    """Kept from look to look: it remembers the counts of runs that were let go, and when schedules fire."""

    def __init__(self, meant: Selection) -> None:
        self._meant = meant
        self._days: dict[str, Day] = {}
        self._rows: dict[str, Row] = {}
        self._grid = Grid()

    def let_go(self, name: str, runs: Sequence[Run]) -> None:
        """Runs of a job that are no longer kept one by one."""
        self._day(name).let_go(runs)

    def drawn(self, known: Mapping[str, MonitoredJob], counted_from: datetime | None, now: datetime) -> dict[str, Any]:
        """Instants are Unix seconds; of a job, seconds after `begin`. `plans` are the times to come that jobs point to.

        A plan has the first time of each cell that has any, in a pair with their number where there are several. `starts`
        counts all of them, those of paused jobs left out, by `step` from `from` on.
        """
        frame = Frame.around(now, SPAN, counted_from)
        self._forget(known, frame)
        plans: list[list[Any]] = []
        places: dict[Times, int] = {}
        rows = [self._row(each, each.state, frame, plans, places) for each in known.values() if each.state]
        self._grid.keep({each.job.times for each in known.values()})
        return {
            "begin": frame.begin,
            "end": frame.end,
            "cell": CELL,
            "counted_from": int(frame.counted_from.timestamp()),
            "kinds": KINDS,
            "jobs": [*rows, *self._missing(known, now)],
            "plans": plans,
            "starts": self._starts([each.job for each in known.values()], frame),
        }

    def _row(
        self, known: MonitoredJob, state: JobState, frame: Frame, plans: list[list[Any]], places: dict[Times, int]
    ) -> Any:
        job = known.job
        fires = self._grid.of(job.times, frame.begin, frame.end)
        if job.times not in places and _is_known(job):
            places[job.times] = len(plans)
            ahead = fires.ahead(int(frame.now.timestamp()))
            plans.append([at - frame.begin if count == 1 else [at - frame.begin, count] for at, count in ahead])
        row = self._rows.get(job.name)
        if row is None or not row.holds(known, frame):
            found = past(known, state, self._day(job.name), fires, frame)
            row = self._rows[job.name] = row_of(known, state, found, frame, self._labels(job.name))
        return row_json(row, known, places.get(job.times) if _is_known(job) else None, frame)

    def _labels(self, name: str) -> Mapping[str, str]:
        job = (self._meant.jobs or {}).get(name)
        return job.labels if job else {}

    def _missing(self, known: Mapping[str, MonitoredJob], now: datetime) -> Iterator[Any]:
        for name, job in (self._meant.jobs or {}).items():
            fires = next_after(self._meant.times[name], now) is not None
            if fires and name not in known and self._meant.takes(name):
                yield missing_json(missing_job(name, self._meant.owner or "", job.timezone), job)

    def _starts(self, jobs: Sequence[Job], frame: Frame) -> dict[str, Any]:
        now = int(frame.now.timestamp())
        total: list[int] = []
        for times, count in Counter(job.times for job in jobs if not job.paused and _is_known(job)).items():
            steps = self._grid.of(times, frame.begin, frame.end).steps_ahead(now)
            total = [each + count * step for each, step in zip(total or [0] * len(steps), steps, strict=True)]
        return {"from": now // STEP * STEP, "step": STEP, "counts": total}

    def _day(self, name: str) -> Day:
        return self._days.setdefault(name, Day())

    def _forget(self, known: Mapping[str, MonitoredJob], frame: Frame) -> None:
        self._days = {name: day for name, day in self._days.items() if name in known}
        self._rows = {name: row for name, row in self._rows.items() if name in known}
        for day in self._days.values():
            day.forget(frame.begin, frame.now - REREAD)


def _is_known(job: Job) -> bool:
    """Whether all its times to come are: not of one of which List shows too little, and none of one that has no actions left."""
    return job.exact and job.remaining != 0
