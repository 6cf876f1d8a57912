"""What a monitor costs: `python benchmarks/bench_monitor.py [jobs]`, on an embedded server whose jobs have all run once.

Prints time and calls of the first look and of later ones, time and size of a scrape, and memory of the real process, for all jobs
and for a quarter of them. Fails where a later look needs more than pages, its time is not about linear, or memory is over the limit.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import urlopen

import psutil
from figures import report
from jobs_that_ran import Namespace, jobs_that_ran
from temporalio.client import Client

from schedules.ledger.records import Records
from schedules.ledger.selection import Selection
from schedules.monitor.watch import Watch
from schedules.server.pace import Pace

LATER_LOOKS = 5
RATE = 25
INTERVAL = 30
"""Seconds between the looks of a monitor, by default."""


@dataclass(frozen=True)
class Cost:
    """Seconds and calls of the first look, and of the fastest later one."""

    first: float
    first_calls: Counter[str]
    later: float
    later_calls: Counter[str]


async def look(watch: Watch, records: Records) -> tuple[float, Counter[str]]:
    """Seconds and calls of one look."""
    before, begin = Counter(records.calls), time.perf_counter()
    await watch.look(datetime.now(UTC))
    return time.perf_counter() - begin, records.calls - before


async def cost(client: Client, owner: str | None) -> Cost:
    """Of a monitor that starts anew."""
    records = Records(client, Pace(RATE))
    watch = Watch(records, Selection(owner))
    first = await look(watch, records)
    later = min([await look(watch, records) for _ in range(LATER_LOOKS)], key=lambda each: each[0])
    return Cost(*first, *later)


def process(address: str) -> tuple[float, int, float]:
    """Seconds and bytes of a scrape of the real process, and its memory in MB."""
    env = {**os.environ, "TEMPORAL_ADDRESS": address, "PYTHONPATH": str(Path(__file__).parents[1])}
    argv = [sys.executable, "-m", "schedules.monitor", "--interval", "2s", "--address", "127.0.0.1:0"]
    with psutil.Popen(argv, env=env, stderr=-1, text=True) as monitor:
        url = monitor.stderr.readline().split()[-1]
        while b"tickwright_job_paused{" not in (page := urlopen(url).read()):
            time.sleep(0.5)
        time.sleep(5)  # Two looks at the interval above, so that the memory is that of one at work.
        begin = time.perf_counter()
        page = urlopen(url).read()
        seconds, memory = time.perf_counter() - begin, monitor.memory_info().rss / 2**20
        monitor.terminate()
    return seconds, len(page), memory


async def measure(namespace: Namespace) -> bool:
    """All figures; whether each is within what is allowed."""
    costs: dict[str, Cost] = {}
    for which, (owner, jobs) in namespace.looks.items():
        costs[which] = one = await cost(namespace.client, owner)
        print(
            f"{jobs:,} jobs: first look {one.first:.2f} s, {dict(one.first_calls)}; "
            f"later {one.later:.2f} s, {dict(one.later_calls)}",
            flush=True,
        )
    seconds, size, memory = await asyncio.to_thread(process, namespace.address)
    print(f"a scrape: {seconds:.2f} s, {size / 2**20:.1f} MB")
    whole, quarter = costs["whole"], costs["quarter"]
    calls = sum(whole.later_calls.values())
    print(f"{calls / INTERVAL:.2f} calls a second at a look every {INTERVAL} s")
    return all(
        [
            report("calls of a later look / 1,000 jobs", calls / namespace.looks["whole"][1] * 1000, aim=6),
            report("per job, whole / quarter", whole.later / quarter.later / 4, aim=1.5),
            report("MB", memory, aim=400),
        ]
    )


async def main(count: int) -> int:
    """Prints the figures; 1 if one is worse than allowed."""
    async with jobs_that_ran(count) as namespace:
        return int(not await measure(namespace))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)))
