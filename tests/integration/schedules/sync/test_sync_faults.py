"""Whatever happens in the middle of a sync, the next one leads to what the specs say."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from temporalio.client import Client

from schedules.server.gateway import TemporalGateway
from tests.deploy import Deploy
from tests.processes import Finished, Running, run_command, started
from tests.servers import DevServer

KILLS = int(os.environ.get("SOAK_RUNS", "5"))
QUIET = ("--no-preflight", "--output", "json")


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    return Deploy(tmp_path, server.environ, name)


def fill(deploy: Deploy, count: int, **fields: Any) -> None:
    for number in range(count):
        deploy.job(f"job-{number:03}", **fields)


def begun_or_over(running: Running, some: int) -> bool:
    return sum(" applied" in line for line in running.err) >= some or running.process.returncode is not None


async def in_sync(deploy: Deploy) -> bool:
    """Whether a close look finds nothing to do, with as many schedules as there are jobs."""
    check = await deploy.run("--check", "--deep", *QUIET)
    return check.code == 0 and json.loads(check.stdout)["unchanged"] == len(deploy.jobs)


async def test_a_server_that_is_killed_and_comes_back_in_the_middle_costs_nothing_but_time(
    tmp_path: Path, start_server: Any
) -> None:
    """Calls are made again for half a minute; what was made is on the server's disk."""
    database = tmp_path / "temporal.db"
    server: DevServer = await asyncio.to_thread(start_server, database=database)
    (tmp_path / "specs").mkdir()
    deploy = Deploy(tmp_path / "specs", server.environ, "billing")
    fill(deploy, 120)
    deploy.write()
    client = await Client.connect(server.address)
    async with started("schedules.sync", deploy.folder, *QUIET, env=server.environ) as running:
        await running.until(lambda: sum(" applied" in line for line in running.err) > 20, "some are made")
        [temporal] = psutil.Process(server.process._guard.pid).children()
        temporal.kill()
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(start_server, database=database, port=server.port)
        assert await running.wait(60) == 0, running.err
    changes = json.loads("\n".join(running.out))["changes"]
    assert {(change["result"], change["error"]) for change in changes} == {("applied", None)}
    assert await in_sync(deploy)
    assert len(await TemporalGateway(client).owned("billing/default")) == 120


async def test_a_server_that_goes_away_for_good_ends_the_sync_with_every_change_named(
    tmp_path: Path, own_server: DevServer
) -> None:
    """The first changes wait for it, half a minute; those behind them do not."""
    deploy = Deploy(tmp_path, own_server.environ, "billing")
    fill(deploy, 120)
    deploy.write()
    async with started("schedules.sync", deploy.folder, *QUIET, env=own_server.environ) as running:
        await running.until(lambda: sum(" applied" in line for line in running.err) > 20, "some are made")
        await asyncio.to_thread(own_server.kill)
        assert await running.wait(60) == 1
    changes = json.loads("\n".join(running.out))["changes"]
    results = [change["result"] for change in changes]
    assert len(results) == 120
    assert results.count("applied") > 20
    assert results.count("failed") == 120 - results.count("applied")
    failed = [change["error"] for change in changes if change["result"] == "failed"]
    tried = [error for error in failed if error != "not tried: the server is away"]
    assert 1 <= len(tried) <= 10, "the others did not wait for the server as well"
    assert all("the server answered" in error for error in tried)
    assert len(running.err) < 60, "what was not tried is no line of its own"


async def test_a_sync_that_is_killed_at_any_moment_is_finished_by_the_next(deploy: Deploy) -> None:
    moments = random.Random(f"{deploy.project}")
    for round_ in range(KILLS):
        deploy.jobs = {name: job for name, job in deploy.jobs.items() if moments.random() < 0.8}
        fill(deploy, 30, schedule=f"{round_ % 60} 8 * * *")
        deploy.write()
        async with started("schedules.sync", deploy.folder, *QUIET, env=deploy.environ) as running:
            await running.until(partial(begun_or_over, running, moments.randrange(30)), "some are done")
            if running.process.returncode is None:
                running.signal(signal.SIGKILL)
            await running.wait()
        await deploy.sync("--no-preflight")
        assert await in_sync(deploy)


async def at_once(*deploys: Deploy) -> list[Finished]:
    for deploy in deploys:
        deploy.write()
    return await asyncio.gather(
        *(run_command("schedules.sync", deploy.folder, *QUIET, env=deploy.environ) for deploy in deploys)
    )


async def test_eight_syncs_of_the_same_specs_at_once_make_each_schedule_once(deploy: Deploy) -> None:
    fill(deploy, 25)
    finished = await at_once(*[deploy] * 8)
    assert [each.code for each in finished] == [0] * 8, [each.stderr for each in finished]
    changes = [change for each in finished for change in json.loads(each.stdout)["changes"]]
    assert sorted(change["job"] for change in changes) == sorted(deploy.jobs)
    assert {(change["action"], change["result"]) for change in changes} == {("create", "applied")}
    assert await in_sync(deploy)


async def test_eight_syncs_of_the_same_new_version_at_once_converge(deploy: Deploy) -> None:
    fill(deploy, 15)
    await deploy.sync("--no-preflight")
    fill(deploy, 15, schedule="15 9 * * *")
    finished = await at_once(*[deploy] * 8)
    assert [each.code for each in finished] == [0] * 8, [each.stdout for each in finished]
    assert await in_sync(deploy)


async def test_two_syncs_of_one_owner_with_different_specs_leave_one_of_the_two_or_say_so(
    deploy: Deploy, tmp_path: Path
) -> None:
    fill(deploy, 20)
    await deploy.sync("--no-preflight")
    (tmp_path / "theirs").mkdir()
    theirs = Deploy(tmp_path / "theirs", deploy.environ, deploy.project)
    ours = Deploy(tmp_path / "ours", deploy.environ, deploy.project)
    (tmp_path / "ours").mkdir()
    fill(ours, 20, schedule="1 1 * * *")
    fill(theirs, 18, schedule="2 2 * * *")
    finished = await at_once(ours, theirs)
    assert all(each.code in {0, 1} and "Traceback" not in each.stderr for each in finished)
    for each in finished:
        for change in json.loads(each.stdout)["changes"]:
            assert change["result"] == "applied" or "at the same time" in change["error"]
    await ours.sync("--no-preflight")
    assert await in_sync(ours)


@pytest.mark.skipif("SOAK_RUNS" not in os.environ, reason="calls that get no answer take fifteen seconds each")
async def test_a_server_that_hangs_for_good_ends_the_sync_too(tmp_path: Path, own_server: DevServer) -> None:
    deploy = Deploy(tmp_path, own_server.environ, "billing")
    fill(deploy, 120)
    deploy.write()
    async with started("schedules.sync", deploy.folder, *QUIET, env=own_server.environ) as running:
        await running.until(lambda: sum(" applied" in line for line in running.err) > 20, "some are made")
        with own_server.hung():
            assert await running.wait(75) == 1
    changes = json.loads("\n".join(running.out))["changes"]
    failed = [change["error"] for change in changes if change["result"] == "failed"]
    assert len(changes) == 120
    assert 1 <= sum(error != "not tried: the server is away" for error in failed) <= 10
