"""The end of a sync: always the exit code that it means, also when it is cut short."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from temporalio.client import Client

from schedules.server.gateway import TemporalGateway
from tests.deploy import Deploy
from tests.processes import Running, started, started_process
from tests.servers import DevServer

RUNS = int(os.environ.get("SOAK_RUNS", "12"))
"""How many runs in a row; `make soak` asks for 300."""


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    return Deploy(tmp_path, server.environ, name)


async def test_a_check_of_specs_in_sync_ends_with_0_each_time(deploy: Deploy) -> None:
    """A process that used a Temporal client can abort (134) while the interpreter ends, after many calls at once."""
    for number in range(40):
        deploy.job(f"job-{number:02}")
    await deploy.sync()
    codes = [(await deploy.run("--check")).code for _ in range(RUNS)]
    assert codes == [0] * RUNS


async def test_an_interrupted_sync_says_what_it_did_and_a_second_one_finishes(deploy: Deploy, client: Client) -> None:
    for number in range(300):
        deploy.job(f"job-{number:03}")
    deploy.write()
    gateway = TemporalGateway(client)
    first = min(deploy.jobs)
    async with started("schedules.sync", deploy.folder, env=deploy.environ) as running:
        while await gateway.describe(first) is None:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.005)
        running.signal(signal.SIGINT)
        assert await running.wait() == 130
    found = await asyncio.gather(*(gateway.describe(name) for name in deploy.jobs))
    made = sum(schedule is not None for schedule in found)
    assert 0 < made < 300
    assert (
        f"interrupted; {deploy.project}/default: {made} applied, 0 failed, 0 unchanged, {300 - made} not begun"
        in "\n".join(running.err)
    )
    finished = await deploy.sync()
    assert (len(finished["changes"]), finished["unchanged"]) == (300 - made, made)


@pytest.mark.parametrize(
    ("number", "output"), [(signal.SIGINT, "text"), (signal.SIGTERM, "json"), (signal.SIGTERM, "markdown")]
)
async def test_a_signal_at_any_moment_ends_with_the_code_of_the_signal(
    deploy: Deploy, number: signal.Signals, output: str
) -> None:
    moments = random.Random(f"{number}{output}")
    for _ in range(RUNS):
        deploy.job("close", schedule=f"{moments.randrange(60)} 8 * * *")
        deploy.write()
        words = ("-m", "schedules.sync", deploy.folder, "--check", "--output", output)
        async with started_process(*words, env=deploy.environ) as running:
            await _until_it_has_begun(running)
            await asyncio.sleep(moments.uniform(0, 0.5))
            with suppress(ProcessLookupError):
                running.signal(number)
            code = await running.wait()
        text = "\n".join(running.err)
        assert code in {3, 128 + number}, text
        assert code == 3 or "nothing was changed" in text
        assert bool(running.out) == (output != "text")
        assert "Traceback" not in text


async def _until_it_has_begun(running: Running) -> None:
    """Python's own start-up ends in a KeyboardInterrupt; the command has begun once it has loaded its first large library."""
    with suppress(psutil.NoSuchProcess):
        while not any("pydantic_core" in place.path for place in psutil.Process(running.pid).memory_maps()):  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_a_second_signal_does_not_wait_for_a_server_that_hangs(tmp_path: Path, own_server: DevServer) -> None:
    deploy = Deploy(tmp_path, own_server.environ, "billing")
    for number in range(60):
        deploy.job(f"job-{number:02}")
    deploy.write()
    options = ("--no-preflight", "--output", "json")
    async with started("schedules.sync", deploy.folder, *options, env=deploy.environ) as running:
        await running.until(lambda: any(" applied" in line for line in running.err), "one is made")
        with own_server.hung():
            running.signal(signal.SIGINT)
            with pytest.raises(TimeoutError):
                await running.wait(1)
            running.signal(signal.SIGTERM)
            assert await running.wait(5) == 143
    said = "interrupted twice; changes in progress may be done or not: run the sync again"
    assert running.err[-1] == said
    assert json.loads("\n".join(running.out)) == {"error": said}
