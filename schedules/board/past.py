"""The last day of one job in cells: its ledger as far as that goes back, and before it what was counted. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import TYPE_CHECKING

from schedules.board.cells import CELL, Cell, Cells
from schedules.board.kinds import kind_of, run_kind
from schedules.cron import between
from schedules.ledger.occurrences import Occurrence
from schedules.ledger.overview import dated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from activities.account.facts import Run
    from schedules.board.day import Day
    from schedules.board.kinds import Kind
    from schedules.board.start_counts import Fires
    from schedules.ledger.facts import Job
    from schedules.ledger.state import JobState
    from schedules.monitor.monitored_job import MonitoredJob

SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Frame:
    """The window of a board: cells from `begin` to `end` (Unix); `counted_from` is from when on all runs were read."""

    now: datetime
    begin: int
    end: int
    counted_from: datetime

    @classmethod
    def around(cls, now: datetime, span: timedelta, counted_from: datetime | None) -> Frame:
        """So long before and after now, in whole cells."""
        at, seconds = int(now.timestamp()), int(span.total_seconds())
        begin, end = (at - seconds) // CELL * CELL, -(-(at + seconds) // CELL) * CELL
        return cls(now, begin, end, max(now - span, counted_from or now - span))


@dataclass(frozen=True, slots=True)
class Past:
    """Cells by number.

    They stay as they are until a look changes the job's state, or the day has left `oldest` behind; None where they change
    with the time alone.
    """

    cells: dict[int, Cell]
    oldest: datetime | None


def past(known: MonitoredJob, state: JobState, day: Day, fires: Fires, frame: Frame) -> Past:
    """`day` is told what it has to remember."""
    begin = state.since or frame.now
    since, told = max(begin, frame.counted_from), Cells()
    without: dict[int, Kind | None] = {}
    shown = [each for each in state.occurrences if each.scheduled_at >= since]
    pending = list(_pending(known, frame))
    for occurrence in (*shown, *pending):
        _place(occurrence, known.job, frame, told, without)
    day.account(without, _whole(since), _whole(known.look.now if known.look else frame.now) + 1)
    if begin > frame.counted_from:
        _add_earlier(_Earlier(known, day, fires, frame, begin), told)
    passing = pending or begin > frame.counted_from or any(each.verdict == "due" for each in shown)
    return Past(told.by_number, None if passing else min((each.scheduled_at for each in shown), default=frame.now))


def pending(known: MonitoredJob, frame: Frame) -> bool:
    """Whether something has come due since the job was thought about last."""
    return next(_pending(known, frame), None) is not None


def _place(occurrence: Occurrence, job: Job, frame: Frame, told: Cells, without: dict[int, Kind | None]) -> None:
    at = int(occurrence.scheduled_at.timestamp())
    late_from = frame.now - job.on_time
    kind = kind_of(occurrence, late_from)
    if occurrence.run is None:
        without[at] = kind
    if kind:
        told.add(kind, at)


def _pending(known: MonitoredJob, frame: Frame) -> Iterator[Occurrence]:
    """Times since the job was thought about last: they are due, and not late yet."""
    job, look = known.job, known.look
    if look is None or job.paused or not job.exact:
        return
    times = [at for at in between(job.times, look.now, frame.now + SECOND) if look.now < at <= frame.now]
    begun = {run.scheduled_at for run in known.memory.runs} if times else set()
    for at in times:
        if at not in begun:
            yield Occurrence(at, "due", expected=True, origin="none")


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What there is to tell of the time before the ledger's `begin`."""

    known: MonitoredJob
    day: Day
    fires: Fires
    frame: Frame
    begin: datetime

    def runs(self) -> Cells:
        """Those that are kept, and those that were."""
        found = Cells()
        for number, cell in self.day.runs.by_number.items():
            found.at(number).add_all(cell)
        for run in _newest_of_each(self.known.runs):
            if self.frame.counted_from <= run.scheduled_at < self.begin:
                at = int(run.scheduled_at.timestamp())
                self.day.ran(at)
                found.add(run_kind(run.verdict), at)
        return found

    def fires_of(self, number: int) -> tuple[int, int]:
        """How many times a cell has before `begin`, and the first of them (Unix)."""
        first = datetime.fromtimestamp(number * CELL, UTC)
        if first + timedelta(seconds=CELL) <= self.begin:
            return self.fires.cell(number)
        times = list(between(self.known.job.times, first, self.begin))
        return len(times), int(times[0].timestamp()) if times else 0


def _add_earlier(earlier: _Earlier, told: Cells) -> None:
    """Runs, times that were accounted for while the ledger reached back there, and others without a run."""
    runs, day, sure_from = earlier.runs(), earlier.day, _sure_from(earlier.known, earlier.frame)
    last = int(earlier.begin.timestamp()) // CELL
    for number in range(earlier.frame.begin // CELL, last + 1):
        cell = runs.at(number)
        unmarked = day.add_without(number, cell)
        if number * CELL >= sure_from and not day.is_accounted(number):
            count, at = earlier.fires_of(number)
            _add_lacking(earlier.known, cell, count - cell.total - unmarked, at)
        if cell.counts:
            told.at(number).add_all(cell)


def _add_lacking(known: MonitoredJob, cell: Cell, lacking: int, at: int) -> None:
    """Times that have no run, of which nothing else is known than whether the job was paused then."""
    if lacking <= 0:
        return
    paused_at = known.paused_at if known.job.paused else None
    if known.job.paused and paused_at is None:
        return
    held = paused_at is not None and at >= paused_at.timestamp()
    cell.add("paused" if held else "no_run", at, lacking)
    cell.exact = False


def _sure_from(known: MonitoredJob, frame: Frame) -> float:
    """From when on every time of today's schedule should have a run that was read."""
    if not known.job.exact:
        return float("inf")
    job = dated(known.job)
    changes = [at for at in (job.created_at, job.updated_at) if at]
    return max([frame.counted_from, *changes]).timestamp()


def _newest_of_each(runs: list[Run]) -> list[Run]:
    """The last run of each scheduled time."""
    ordered = sorted(runs, key=lambda run: run.started_at)
    return list({run.scheduled_at: run for run in ordered}.values())


def _whole(at: datetime) -> int:
    """Unix seconds, rounded up."""
    return ceil(at.timestamp())
