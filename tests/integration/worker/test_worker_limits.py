"""What bounds the work of workers."""

from __future__ import annotations

import asyncio
import signal
from datetime import datetime
from pathlib import Path

from temporalio.client import Client

from tests.processes import RunningWorker, worker
from tests.runs import request, start
from tests.servers import DevServer


def starts(*workers: RunningWorker) -> list[datetime]:
    """When steps began, on all the workers."""
    lines = [line for running in workers for line in running.logs if line.get("action") == "step_started"]
    return sorted(datetime.fromisoformat(line["timestamp"]) for line in lines)


async def run_all(client: Client, name: str, count: int) -> None:
    runs = [await start(client, request(job=name), name, f"2027-03-01T13:00:{n:02}Z") for n in range(count)]
    await asyncio.gather(*(run.result() for run in runs))


async def test_workers_together_keep_to_the_rate_of_the_task_queue(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """One a second: the first may come at once with a second one, the others have to wait."""
    settings = {"task_queue": name, "allow_commands": "true", "max_queue_steps_per_second": "1"}
    async with (
        worker(server.address, cwd=tmp_path, **settings) as one,
        worker(server.address, cwd=tmp_path, **settings) as other,
    ):
        await run_all(client, name, 8)
        await one.until(lambda: len(starts(one, other)) == 8, "eight steps")
        first, *_, last = starts(one, other)
    assert (last - first).total_seconds() >= 5


async def test_pollers_may_be_left_to_the_sdk(server: DevServer, client: Client, name: str, tmp_path: Path) -> None:
    settings = {"task_queue": name, "allow_commands": "true", "workflow_pollers": "auto", "step_pollers": "auto"}
    async with worker(server.address, cwd=tmp_path, **settings) as running:
        await run_all(client, name, 3)
        await running.until(lambda: len(starts(running)) == 3, "three steps")


async def test_fewer_pollers_are_fewer_requests_that_wait(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, step_pollers="2") as running:
        line = f'temporal_num_pollers{{namespace="default",poller_type="activity_task",task_queue="{name}"}} 2.0'
        async with asyncio.timeout(60):
            while line not in (await running.get("/metrics"))[1].splitlines():  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)


async def test_every_limit_of_a_setting_is_one_that_the_sdk_takes(server: DevServer, name: str, tmp_path: Path) -> None:
    highest = {
        "max_cached_workflows": "1000000",
        "max_concurrent_steps": "100000",
        "max_concurrent_workflow_tasks": "100000",
        "max_concurrent_local_activities": "100000",
        "step_pollers": "1000",
        "workflow_pollers": "1000",
        "max_steps_per_second": "0.001",
        "max_queue_steps_per_second": "0.001",
        "drain_timeout": "36500d",
        "backlog_interval": "36500d",
    }
    async with worker(server.address, cwd=tmp_path, task_queue=name, **highest) as running:
        running.signal(signal.SIGTERM)
        assert await running.wait() == 0
