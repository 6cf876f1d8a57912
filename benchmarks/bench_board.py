"""What the board costs: `python benchmarks/bench_board.py [jobs]`, on an embedded server whose jobs have all run once, and in a real Chromium.

Prints, for such daily jobs and for made-up ones of every ten minutes with a whole day behind them: bytes of the page's data and the time
from the start of the navigation until all is drawn. And calls of a look, and memory of the real process. Fails where one is over its limit.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import psutil
from bench_monitor import cost
from figures import report
from jobs_that_ran import Nothing, desired_jobs, make, run_once, settled
from playwright.async_api import Browser, async_playwright
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.account.facts import Run
from activities.occurrence import stamp
from schedules.board.latest import Latest
from schedules.board.picture import Picture
from schedules.board.routes import Board
from schedules.cron import between
from schedules.ledger.facts import Job
from schedules.ledger.records import Records
from schedules.ledger.selection import Selection
from schedules.model import Interval, Times
from schedules.monitor.monitored_job import MonitoredJob
from schedules.serve.guard import Guard
from schedules.serve.serving import serving
from worker.dev.embedded import embedded_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LOADS = 5
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
WATCH = """
new MutationObserver((_, watch) => {
  if (!document.documentElement.dataset.drawn) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.now() / 1000 }, 0));
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-drawn"] });
"""
"""Set at the end of the frame in which the first drawing was painted; `performance.now()` counts from the navigation's start."""


async def load(browser: Browser, url: str) -> tuple[float, int, int]:
    """Seconds of a load, the median of some with an empty cache each; bytes of the data as sent and as it is."""
    seconds: list[float] = []
    sent = plain = 0
    for _ in range(LOADS):
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.add_init_script(WATCH)
        async with page.expect_response("**/data") as answer:
            await page.goto(url)
        while (drawn := await page.evaluate("window.drawn")) is None:
            await page.wait_for_timeout(20)  # the page's policy keeps Playwright from waiting in it
        seconds.append(float(drawn))
        sizes = await (await answer.value).request.sizes()
        sent, plain = sizes["responseBodySize"], len(await (await answer.value).body())
        await page.close()
    return median(seconds), sent, plain


def made_up(count: int, now: datetime) -> Latest:
    """As many jobs of every ten minutes, no two alike, each with its day of runs."""
    picture, known = Picture(Selection(None)), dict[str, MonitoredJob]()
    for number in range(count):
        name, times = f"nightly-export-{number:04}", Times("Europe/Berlin", intervals=(Interval(600, number % 600),))
        runs = []
        for at in between(times, now - DAY, now):
            run = f"{name}-{stamp(at)}"
            status = "failed" if (number + at.hour) % 97 == 0 else "completed"
            runs.append(Run(run, run, at, at + SECOND, at + 9 * SECOND, status, scheduled_by=name))  # type: ignore[arg-type]  # both are
        known[name] = one = MonitoredJob(Job(name, times, "bench/default"))
        picture.let_go(name, one.memory.take(runs))
        one.update(one.job, now - DAY, now)
    begin = time.perf_counter()
    drawn = picture.drawn(known, None, now)
    print(f"made-up: the first picture of {count:,} jobs {time.perf_counter() - begin:.2f} s", end=", ")
    begin = time.perf_counter()
    drawn = picture.drawn(known, None, now + timedelta(seconds=30))
    latest = Latest(timedelta(seconds=30))
    latest.show(drawn, now, namespace="bench")
    print(f"a later one, packed {time.perf_counter() - begin:.2f} s", flush=True)
    return latest


@asynccontextmanager
async def process(owner: str, address: str) -> AsyncIterator[tuple[str, psutil.Popen]]:
    """The real command, once it has looked."""
    env = {**os.environ, "TEMPORAL_ADDRESS": address, "PYTHONPATH": str(Path(__file__).parents[1])}
    argv = [
        sys.executable,
        "-m",
        "schedules",
        "board",
        "--owner",
        owner,
        "--interval",
        "2s",
        "--address",
        "127.0.0.1:0",
    ]
    with psutil.Popen(argv, env=env, stderr=-1, text=True) as board:
        url = (await asyncio.to_thread(board.stderr.readline)).split()[-1]
        try:
            yield url, board
        finally:
            board.terminate()


async def real(client: Client, browser: Browser, root: Path, count: int, address: str) -> list[bool]:
    """Of daily jobs on a server."""
    owner, desired = desired_jobs(root / "jobs", count, "bench")
    runner = UnsandboxedWorkflowRunner()
    async with Worker(client, task_queue="tickwright", workflows=[Nothing], workflow_runner=runner):
        await make(client, owner, desired)
        await run_once(client, owner, list(desired.values()))
        await settled(Records(client), owner, count)
    calls = sum((await cost(client, owner)).later_calls.values())
    async with process(owner, address) as (url, board):
        await load(browser, url)
        await asyncio.sleep(10)
        seconds, sent, plain = await load(browser, url)
        memory = board.memory_info().rss / 2**20
    print(f"{count:,} daily jobs: {sent / 1000:.0f} KB sent, {plain / 1000:.0f} KB")
    return [
        report("load s", seconds, aim=1),
        report("calls of a later look / 1,000 jobs", calls / count * 1000, aim=6),
        report("MB", memory, aim=400),
    ]


async def heavy(browser: Browser, count: int) -> list[bool]:
    """Of made-up jobs, served as the command does."""
    board = Board(made_up(count, datetime.now(UTC)), Guard(None), timedelta(seconds=30))
    async with serving(board.application(), ("127.0.0.1", 0), "--address") as url:
        seconds, sent, plain = await load(browser, f"{url}/")
    print(f"{count:,} jobs of every ten minutes: {sent / 1000:.0f} KB sent, {plain / 1000:.0f} KB")
    return [report("load s, made-up", seconds, aim=1), report("KB sent, made-up", sent / 1000, aim=500)]


async def main(count: int) -> int:
    """Prints the figures; 1 if one is worse than allowed, or there is no Chromium."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no Chromium on the PATH (Debian's package: chromium)")
        return 1
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        results = await heavy(browser, count)
        with tempfile.TemporaryDirectory() as folder:
            async with embedded_server(Path(folder) / "server", lambda: None) as server:
                client = await Client.connect(server.address)
                results += await real(client, browser, Path(folder), count, server.address)
        await browser.close()
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)))
