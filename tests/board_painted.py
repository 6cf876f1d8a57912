"""A board of a few made-up jobs, served without a Temporal: its looks succeed when a test says so."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from activities.account.facts import Run, Status
from activities.occurrence import stamp
from schedules.board.latest import Latest
from schedules.board.picture import Picture
from schedules.board.routes import Board
from schedules.cron import between
from schedules.ledger.facts import Job
from schedules.ledger.selection import Selection
from schedules.model import Calendar, Interval, Range, Times
from schedules.monitor.monitored_job import MonitoredJob
from schedules.serve.guard import Guard
from schedules.serve.serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HOURS = timedelta(hours=2)
INTERVAL = timedelta(seconds=30)
EVERY_MINUTE = Times("UTC", intervals=(Interval(60),))
FAST = Times("UTC", intervals=(Interval(5),))
DAILY = Times("Europe/Berlin", calendars=(Calendar(minute=(Range(7, 7),), hour=(Range(3, 3),)),))
HOURLY = Times("UTC", calendars=(Calendar(minute=(Range(7, 7),), hour=(Range(0, 23),)),))
LONG = "the-name-of-this-job-is-so-long-that-nothing-else-finds-room-beside-it-in-a-row-of-the-board"
JOBS = {
    "beat": Job("beat", EVERY_MINUTE, "shop/default"),
    "broken": Job("broken", EVERY_MINUTE, "shop/default"),
    "daily": Job("daily", DAILY, "shop/default"),
    "held": Job("held", EVERY_MINUTE, "shop/default", paused=True, note="the bank is moving"),
    "steps": Job("steps", FAST, "shop/default"),
    LONG: Job(LONG, HOURLY, "shop/default"),
}
FAILING = {"broken", LONG}


@dataclass
class Painted:
    """`url` serves what `look` showed last."""

    url: str
    latest: Latest
    board: Board

    def look(self, at: datetime, *without: str) -> None:
        """As if Temporal was looked at then, and had all jobs but those."""
        self.board.known, picture = painted(at, *without)
        self.latest.show(picture, at, namespace="default")


@asynccontextmanager
async def served(port: int = 0, interval: timedelta = INTERVAL) -> AsyncIterator[Painted]:
    """A board that has not looked yet."""
    latest = Latest(interval)
    board = Board(latest, Guard(None), interval)
    async with serving(board.application(), ("127.0.0.1", port), "--address") as url:
        yield Painted(url, latest, board)


def painted(now: datetime, *without: str) -> tuple[dict[str, MonitoredJob], dict[str, object]]:
    """The jobs, and what the page is sent of them: two hours of runs, of which those of `FAILING` failed."""
    known, drawn = dict[str, MonitoredJob](), Picture(Selection(None))
    for name, job in JOBS.items():
        if name in without:
            continue
        known[name] = one = MonitoredJob(replace(job))
        due = [] if job.paused else between(job.times, now - HOURS, now)
        drawn.let_go(name, one.memory.take([_run(name, each) for each in due]))
        one.update(job, now - HOURS, now)
    return known, drawn.drawn(known, None, now)


def _run(name: str, due: datetime) -> Run:
    run, begun = f"{name}-{stamp(due)}", due + timedelta(seconds=0.2)
    ended = begun + timedelta(seconds=0.5)
    status: Status = "failed" if name in FAILING else "completed"
    return Run(run, run, due.astimezone(UTC), begun, ended, status, scheduled_by=name)
