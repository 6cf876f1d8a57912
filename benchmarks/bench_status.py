"""What `status` costs: `python benchmarks/bench_status.py [jobs]`, on an embedded server whose jobs have all run once.

Prints time, calls of the server by kind and peak memory of a process of its own, for all jobs and for a quarter of them, and
fails where the time is not about linear, a namespace in which all is well needs more than pages, or memory is over the limit.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from figures import report
from jobs_that_ran import Namespace, jobs_that_ran
from temporalio.client import Client

from schedules.ledger.notices.open_incidents import open_incidents
from schedules.ledger.overview import Overview, overview
from schedules.ledger.records import Records

ROUNDS = 3
DAY = timedelta(days=1)


async def look(client: Client, owner: str | None) -> tuple[float, Records, Overview]:
    """Seconds, calls and result of one status."""
    records, begin, now = Records(client), time.perf_counter(), datetime.now(UTC)
    jobs = await records.jobs(owner)
    found = await overview(records, jobs, owner, now - DAY, now, all_jobs=True)
    await open_incidents(records)
    return time.perf_counter() - begin, records, found


def command(address: str) -> tuple[float, float, int]:
    """Wall time in seconds, peak memory in MB and number of jobs of `python -m schedules status`."""
    begin = time.perf_counter()
    env = {**os.environ, "TEMPORAL_ADDRESS": address, "PYTHONPATH": str(Path(__file__).parents[1])}
    argv = [sys.executable, "-m", "schedules", "status", "--output", "json"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, len(json.loads(done.stdout)["jobs"])


async def measure(namespace: Namespace) -> bool:
    """All figures; whether each is within what is allowed."""
    seconds: dict[str, list[float]] = {which: [] for which in namespace.looks}
    total = 0
    for _ in range(ROUNDS):
        for which, (owner, _) in namespace.looks.items():
            took, records, found = await look(namespace.client, owner)
            seconds[which].append(took)
            print(
                f"{which}: {len(found.states):,} jobs, {found.runs:,} runs: {took:.2f} s, calls {dict(records.calls)}",
                flush=True,
            )
            total = sum(records.calls.values()) if which == "whole" else total
    whole, quarter = map(min, seconds.values())
    wall, memory, shown = await asyncio.to_thread(command, namespace.address)
    assert shown == namespace.looks["whole"][1]
    print(f"the whole command: {wall:.2f} s")
    return all(
        [
            report("per job, whole / quarter", whole / quarter / 4, aim=1.5),
            report("calls / 1,000 jobs", total / shown * 1000, f"{total} calls", aim=6),
            report("MB", memory, "peak of the command", aim=400),
        ]
    )


async def main(count: int) -> int:
    """Prints the figures; 1 if one is worse than allowed."""
    async with jobs_that_ran(count) as namespace:
        return int(not await measure(namespace))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)))
