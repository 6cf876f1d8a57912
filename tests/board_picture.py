"""`python -m tests.board_picture` renews docs/board.png: the board with made-up jobs, drawn by a real Chromium."""

from __future__ import annotations

import asyncio
import random
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import async_playwright

from activities.account.facts import Run, Status
from activities.occurrence import stamp
from schedules.board.latest import Latest
from schedules.board.picture import Picture
from schedules.board.routes import Board
from schedules.cron import between
from schedules.ledger.facts import Job
from schedules.ledger.overview import Close
from schedules.ledger.selection import Selection
from schedules.ledger.state import state_of
from schedules.model import Calendar, Interval, Range, Times
from schedules.monitor.monitored_job import MonitoredJob
from schedules.serve.guard import Guard
from schedules.serve.serving import serving

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "board.png"
SIZE = {"width": 1280, "height": 800}
DAY, ALL = timedelta(days=1), Range(0, 23)
SEED = 7
EVERY_MINUTE = Times("UTC", intervals=(Interval(60),))


def at(*hours: int, minute: int = 0, zone: str = "Europe/Berlin") -> Times:
    """Daily at these hours; none stands for all of them."""
    ranges = tuple(Range(hour, hour) for hour in hours) or (ALL,)
    return Times(zone, calendars=(Calendar(minute=(Range(minute, minute),), hour=ranges),))


JOBS: dict[str, tuple[Times, float]] = {
    "invoice-dunning": (at(8), 41),
    "nightly-reconcile": (at(2), 1_830),
    "catalog-import": (at(minute=10), 95),
    "search-index": (Times("UTC", intervals=(Interval(900),)), 22),
    "session-cleanup": (Times("UTC", intervals=(Interval(300),)), 2),
    "heartbeat": (EVERY_MINUTE, 0.4),
    "payout-export": (at(6, 12, 18, minute=30), 140),
    "mail-digest": (at(7, 17, minute=15), 64),
    "ledger-snapshot": (at(0, 6, 12, 18), 310),
    "fx-rates": (at(minute=5), 3),
    "warehouse-load": (at(1, 13, minute=20), 2_400),
    "backup-database": (at(3, minute=30), 1_260),
    "backup-verify": (at(5, minute=30), 420),
    "gdpr-erasure": (at(4), 75),
    "partner-feed": (at(*range(0, 24, 2), minute=40), 31),
    "usage-rollup": (at(minute=2), 12),
    "certificate-check": (at(9, 21), 6),
    "price-sync": (at(*range(6, 22), minute=25), 18),
    "stock-alerts": (Times("UTC", intervals=(Interval(1_800),)), 5),
    "report-weekly": (at(6, minute=45), 210),
}
FAILING = {"catalog-import": 3, "partner-feed": 1}
"""How many of the last runs failed."""


def runs_of(name: str, now: datetime, draw: random.Random) -> list[Run]:
    """A day of runs, nearly all of them well."""
    times, usual = JOBS[name]
    due = list(between(times, now - DAY, now))
    return [_run(name, each, len(due) - place <= FAILING.get(name, 0), usual, draw) for place, each in enumerate(due)]


def _run(name: str, due: datetime, fails: bool, usual: float, draw: random.Random) -> Run:
    begun = due + timedelta(seconds=draw.expovariate(3))
    status: Status = "failed" if fails or draw.random() < 0.004 else "completed"
    ended = begun + timedelta(seconds=usual * draw.uniform(0.8, 1.3))
    going = name == "warehouse-load" and due.hour >= 12
    marked = "superseded" if name == "search-index" and draw.random() < 0.02 else ""
    run = f"{name}-{stamp(due)}"
    if going:
        return Run(run, run, due, begun, scheduled_by=name)
    return Run(run, run, due, begun, ended, status, marked, scheduled_by=name)


def picture(now: datetime) -> dict[str, object]:
    """What a look would have seen."""
    draw, drawn, known = random.Random(SEED), Picture(Selection(None)), dict[str, MonitoredJob]()
    for name, (times, _) in JOBS.items():
        paused = name == "certificate-check"
        job = Job(
            name,
            times,
            "shop/production",
            paused=paused,
            note="the vendor is moving" if paused else "",
            overlap="allow_all",
        )
        runs = runs_of(name, now, draw)
        known[name] = one = MonitoredJob(job)
        drawn.let_go(name, one.memory.take(runs[:-1] if name == "mail-digest" else runs))
        one.update(job, now - DAY, now)
        if name == "mail-digest":
            _explain(one, now)
    return drawn.drawn(known, None, now)


def _explain(known: MonitoredJob, now: datetime) -> None:
    """As a closer look does after an outage of the server."""
    assert known.state
    why = "the server was away when it was due, and came back 2h later"
    told = [
        each if each.run else replace(each, verdict="missed", certain=True, reason=why)
        for each in known.state.occurrences
    ]
    state = state_of(known.job, told, known.memory.runs, now, since=now - DAY)
    known.learn(Close(known.job, state), None, now)


async def main() -> None:
    """Writes the PNG."""
    now, latest = datetime.now(UTC), Latest(timedelta(seconds=30))
    latest.show(picture(now), now, namespace="production")
    application = Board(latest, Guard(None), timedelta(seconds=30)).application()
    async with serving(application, ("127.0.0.1", 0), "--address") as url, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = await browser.new_page(viewport=SIZE, timezone_id="Europe/Berlin")  # type: ignore[arg-type]  # a TypedDict
        await page.goto(f"{url}/")
        await page.wait_for_selector("html[data-drawn]")
        await page.wait_for_timeout(200)
        await page.screenshot(path=PICTURE)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
