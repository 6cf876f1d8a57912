"""Two workers are replaced one after the other, as a rolling update does it, while schedules of seconds run."""

from __future__ import annotations

import signal
import statistics
from collections.abc import Iterable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from temporalio.client import Client

from activities.contract import JobResult
from tests.deploy import Deploy
from tests.processes import RunningWorker, worker
from tests.servers import DevServer
from tests.waiting import until

JOBS, EVERY = 10, timedelta(seconds=2)
EACH = {"policy": "run_all", "max_missed": 100}
"""A run that is late for a busy machine gives its place to no newer one."""
LATEST = 30.0
"""Seconds; a loose bound for a machine that has much else to do."""
HANDLERS = """
import asyncio
from pathlib import Path
from activities import JobContext, handler

@handler
async def note(context: JobContext) -> None:
    await asyncio.sleep(0.3)
    with Path("done").open("a") as file:
        file.write(f"{context.job} {context.scheduled_at.timestamp():.0f}\\n")
"""


def done(folder: Path) -> list[tuple[str, int]]:
    """Job and time of every call that came to its end."""
    file = folder / "done"
    lines = file.read_text().splitlines() if file.exists() else []
    return [(job, int(time)) for job, time in (line.split() for line in lines)]


@pytest.mark.timeout(300)
async def test_no_run_fails_is_doubled_or_lost_while_both_workers_are_replaced(
    own_server: DevServer, name: str, tmp_path: Path
) -> None:
    client = await Client.connect(own_server.address)
    (tmp_path / "handlers_of_roll.py").write_text(HANDLERS)
    (tmp_path / "specs").mkdir()
    deploy = Deploy(tmp_path / "specs", own_server.environ, name)
    for number in range(JOBS):
        run = {"python": {"handler": "note"}}
        deploy.job(f"job-{number}", schedule={"every": "2s"}, overlap="allow_all", task_queue=name, run=run)
    settings = {"task_queue": name, "modules": "handlers_of_roll"}
    async with AsyncExitStack() as stack:

        async def one_more() -> RunningWorker:
            return await stack.enter_async_context(worker(own_server.address, cwd=tmp_path, **settings))

        old = [await one_more(), await one_more()]
        await deploy.sync()
        await until(lambda: {job for job, _ in done(tmp_path)} == set(deploy.jobs))
        begin = {job: min(time for of, time in done(tmp_path) if of == job) for job in deploy.jobs}
        roll_began = datetime.now(UTC)
        for leaving in old:
            await one_more()
            arrived = datetime.now(
                UTC
            ).timestamp()  # A new one starts in no time: runs that share it with the old one are waited for.
            await until(partial(_all_later, tmp_path, deploy.jobs, arrived))
            leaving.signal(signal.SIGTERM)
            assert await leaving.wait(timeout=60) == 0
        rolled = datetime.now(UTC)
        end = int((rolled + EVERY).timestamp())
        await until(partial(_all_later, tmp_path, deploy.jobs, end))
        times = [(job, time) for job, first in begin.items() for time in range(first, end, int(EVERY.total_seconds()))]
        results = [await result(client, job, time) for job, time in times]
    assert {one.outcome for one in results} == {"succeeded"}
    assert {one.attempts for one in results} == {1}
    assert [one for one in times if done(tmp_path).count(one) != 1] == []
    late = [one.lateness for (_, time), one in zip(times, results, strict=True) if time >= roll_began.timestamp()]
    took = (rolled - roll_began).total_seconds()
    figures = f"{statistics.median(late):.2f} s in the median, {max(late):.2f} s at most"
    print(f"{len(late)} runs while two workers were replaced in {took:.0f} s: lateness {figures}")
    assert max(late) < LATEST


def _all_later(folder: Path, jobs: Iterable[str], than: float) -> bool:
    """Whether each job has done a time after this one."""
    return all(max(time for of, time in done(folder) if of == job) > than for job in jobs)


async def result(client: Client, job: str, time: int) -> JobResult:
    """How the occurrence ended. Raises RPCError where it was never started."""
    occurrence = f"{job}-{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}"
    ended: JobResult = await client.get_workflow_handle(occurrence, result_type=JobResult).result()
    return ended
