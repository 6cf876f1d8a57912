"""The server goes away under running steps, and comes back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.client import Client

from activities.contract import JobResult, RetryRequest
from tests.processes import RunningWorker, worker
from tests.runs import failure, request, shell, start
from tests.servers import dev_server

SHORT_OUTAGE = 14.0
"""Seconds; the SDK's core gives up a report after some ten, a step's heartbeat timeout here is thirty."""


def until_told(end: str) -> dict[str, object]:
    return shell(f"echo x >> begun; until [ -e go ]; do sleep 0.05; done; {end}", permanent_exit_codes=[3])


@asynccontextmanager
async def outage_at_the_end(folder: Path, name: str, end: str) -> AsyncIterator[tuple[RunningWorker, str, str]]:
    """A run whose step ends while the server is away; gives the worker, and when the server is back its address and the run's id."""
    database = folder / "temporal.db"
    with dev_server(database=database) as first:
        async with worker(first.address, cwd=folder, task_queue=name, allow_commands="true") as running:
            client = await Client.connect(first.address)
            retry = RetryRequest(max_attempts=2, initial=1.0)
            run = await start(client, request(params=until_told(end), job=name, retry=retry, timeout=60.0), name)
            await running.until((folder / "begun").exists, "the step's beginning")
            first.kill()
            gone = time.monotonic()
            (folder / "go").touch()
            await running.until_log("outcome_kept")
            await asyncio.sleep(gone + SHORT_OUTAGE - time.monotonic())
            with dev_server(port=first.port, database=database) as second:
                yield running, second.address, run.id


async def test_a_step_that_succeeds_while_the_server_is_away_has_succeeded_once(name: str, tmp_path: Path) -> None:
    async with outage_at_the_end(tmp_path, name, "exit 0") as (_, address, run):
        client = await Client.connect(address)
        result = await client.get_workflow_handle(run, result_type=JobResult).result()
    assert (result.outcome, result.attempts) == ("succeeded", 1)
    assert (tmp_path / "begun").read_text() == "x\n"


async def test_a_step_that_fails_for_good_while_the_server_is_away_is_not_tried_again(
    name: str, tmp_path: Path
) -> None:
    async with outage_at_the_end(tmp_path, name, "exit 3") as (_, address, run):
        client = await Client.connect(address)
        ended = await failure(client.get_workflow_handle(run, result_type=JobResult))
    assert (ended.type, ended.message) == ("failed", "step run: `/bin/sh` ended with exit code 3")
    assert (tmp_path / "begun").read_text() == "x\n"


pytestmark = pytest.mark.timeout(120)
