"""What a worker does on this machine, beside workers and workflows written by hand: `python benchmarks/bench_worker.py [runs]`.

A real dev server in memory and real worker processes; both sides of a ratio in one run, in turns, median of the rounds.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from uuid import uuid4

import psutil
from figures import report
from temporalio.client import Client

from activities.contract import JobRequest
from tests.processes import Running, RunningWorker, started, worker
from tests.runs import request, start
from tests.servers import DevServer, dev_server

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 5
MODULE = """
import asyncio
from datetime import timedelta
from temporalio import activity, workflow
from activities import handler

@handler
async def nothing() -> None: ...

@handler
async def half_a_second() -> None:
    await asyncio.sleep(0.5)

@handler
async def for_ever() -> None:
    await asyncio.Event().wait()

@activity.defn
async def nothing_by_hand(given: dict) -> None: ...

@workflow.defn
class ByHand:
    @workflow.run
    async def run(self, given: dict) -> None:
        await workflow.execute_activity(nothing_by_hand, given, start_to_close_timeout=timedelta(seconds=30))
"""
BARE = """
import asyncio, os
from bench_module import ByHand, nothing_by_hand
from temporalio.client import Client
from temporalio.worker import Worker

async def main() -> None:
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    await Worker(client, task_queue=os.environ["QUEUE"], workflows=[ByHand], activities=[nothing_by_hand]).run()

if __name__ == "__main__":
    asyncio.run(main())
"""


Run = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Bench:
    """A server, and a folder from which workers load their modules."""

    server: DevServer
    client: Client
    folder: Path

    def worker(self, queue: str, **settings: str) -> AbstractAsyncContextManager[RunningWorker]:
        given = {"task_queue": queue, "modules": "bench_module", "allow_commands": "true", **settings}
        return worker(self.server.address, cwd=self.folder, **given)

    async def job(self, what: JobRequest, queue: str) -> None:
        """One run of a job, to its end."""
        await (await start(self.client, replace(what, job=f"{uuid4()}"), queue)).result()

    async def by_hand(self, queue: str) -> None:
        """One run of the hand-written workflow, with an argument of the same size."""
        await self.client.execute_workflow("ByHand", PYTHON, id=f"{uuid4()}", task_queue=queue)


PYTHON, COMMAND = request("python", {"handler": "nothing"}), request(params={"argv": ["true"]})
SLOW = request("python", {"handler": "half_a_second"})


async def timed(running: RunningWorker, runs: int, run: Run) -> tuple[float, float]:
    """Runs that end in a second, with 50 on the way at a time; and the worker's own milliseconds of processor time for one.

    The processor time says the same on a machine that others use too.
    """
    at_once = asyncio.Semaphore(50)

    async def one() -> None:
        async with at_once:
            await run()

    began, before = time.monotonic(), processor_seconds(running)
    await asyncio.gather(*(one() for _ in range(runs)))
    took = time.monotonic() - began
    return runs / took, (processor_seconds(running) - before) * 1000 / runs


def processor_seconds(running: RunningWorker) -> float:
    times = psutil.Process(running.pid).cpu_times()
    return times.user + times.system


async def throughput(bench: Bench, runs: int) -> list[bool]:
    """Reports what a job costs beside a workflow by hand on the same worker, in runs a second and in its processor time."""
    queue = "throughput"
    kinds: dict[str, Run] = {
        "job, python no-op": lambda: bench.job(PYTHON, queue),
        "by hand": lambda: bench.by_hand(queue),
        "job, command `true`": lambda: bench.job(COMMAND, queue),
    }
    async with bench.worker(queue) as running:
        for run in kinds.values():
            await timed(running, 20, run)
        rounds = [[await timed(running, runs, run) for run in kinds.values()] for _ in range(ROUNDS)]
    for kind, figures in zip(kinds, zip(*rounds, strict=True), strict=True):
        rate, processor = (statistics.median(column) for column in zip(*figures, strict=True))
        print(f"{kind}: {rate:.0f}/s, {processor:.1f} ms of the worker's processor time each")
    ratio = statistics.median(job[0] / by_hand[0] for job, by_hand, _ in rounds)
    worker_alone = statistics.median(by_hand[1] / job[1] for job, by_hand, _ in rounds)
    return [
        report("by hand / job, processor time", worker_alone, "of the worker alone", aim=0.95, at_least=True),
        report("job / by hand, runs a second", ratio, aim=0.97, at_least=True),
    ]


async def slots(bench: Bench) -> None:
    """Prints what the number of steps at a time does to jobs that wait for half a second."""
    for number in (5, 20, 100):
        queue = f"slots-{number}"
        async with bench.worker(queue, max_concurrent_steps=str(number)) as running:
            rate, _ = await timed(running, min(10 * number, 200), partial(bench.job, SLOW, queue))
        print(f"steps of 0.5 s, {number} at a time: {rate:.0f}/s")


def megabytes(process: Running) -> float:
    return psutil.Process(process.pid).memory_info().rss / 2**20


async def cache(bench: Bench, runs: int = 500) -> None:
    """Prints the memory of an idle worker, and of one that keeps runs whose steps wait for a place."""
    queue = "cache"
    async with bench.worker(queue, max_concurrent_steps="1") as running:
        idle = megabytes(running)
        blocked = request("python", {"handler": "for_ever"}, timeout=600.0)
        await asyncio.gather(*(start(bench.client, replace(blocked, job=f"{uuid4()}"), queue) for _ in range(runs)))
        await until_cached(running, runs)
        print(f"memory: idle {idle:.0f} MB, {megabytes(running) - idle:.0f} MB more for {runs} runs in its cache")


async def until_cached(running: RunningWorker, runs: int) -> None:
    """Waits until the worker says that it keeps so many runs; that of its build is one more."""
    async with asyncio.timeout(120):
        while await cached(running) < runs:  # noqa: ASYNC110
            await asyncio.sleep(0.5)


async def cached(running: RunningWorker) -> float:
    found = re.search(r"^temporal_sticky_cache_size{.*} (\S+)$", await metrics(running), re.MULTILINE)
    return float(found[1]) if found else 0


async def metrics(running: RunningWorker) -> str:
    return (await running.get("/metrics"))[1]


async def start_up(bench: Bench) -> list[bool]:
    """Reports time and memory until a worker has ended its first run, beside one that has nothing but the SDK."""
    rounds = []
    for number in range(ROUNDS + 1):
        ours = await first_run(bench, f"ours-{number}", "worker")
        rounds.append((ours, await first_run(bench, f"bare-{number}", "bare")))
    del rounds[0]  # It compiled the modules, as an installation does.
    seconds, memory = (statistics.median(ours[i] / bare[i] for ours, bare in rounds) for i in (0, 1))
    for name, side in (("worker", 0), ("bare temporalio worker", 1)):
        took, weight = (statistics.median(one[side][i] for one in rounds) for i in (0, 1))
        print(f"{name}: {took:.2f} s to the end of its first run, {weight:.0f} MB")
    return [report("worker / bare, start", seconds, aim=1.2), report("worker / bare, memory", memory, aim=1.2)]


async def first_run(bench: Bench, queue: str, module: str) -> tuple[float, float]:
    handle = await bench.client.start_workflow("ByHand", PYTHON, id=queue, task_queue=queue)
    env = {
        "TEMPORAL_ADDRESS": bench.server.address,
        "QUEUE": queue,
        "TICKWRIGHT_TASK_QUEUE": queue,
        "TICKWRIGHT_MODULES": "bench_module",
        "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0",
        "PYTHONPATH": f"{ROOT}:{bench.folder}",
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": f"{bench.folder / 'compiled'}",
    }
    began = time.monotonic()
    async with started(module, env=env, cwd=bench.folder) as running:
        await handle.result()
        return time.monotonic() - began, megabytes(running)


async def main(runs: int) -> int:
    """Prints the figures; 1 if an aim is missed."""
    with tempfile.TemporaryDirectory() as directory, dev_server() as server:
        bench = Bench(server, await Client.connect(server.address), Path(directory))
        (bench.folder / "bench_module.py").write_text(MODULE)
        (bench.folder / "bare.py").write_text(BARE)
        reached = [*await start_up(bench), *await throughput(bench, runs)]
        await slots(bench)
        await cache(bench)
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)))
