"""People are told of runs that did not begin: schedules of seconds on a real server, and workers for some of the task queues."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.watchdog.contract import WatchState
from tests.deploy import Deploy
from tests.processes import worker
from tests.receiver import Receiver
from tests.servers import DevServer

MISSED = {"channels": ["hook"], "grace": "6s"}


@pytest.fixture
def deploy(server: DevServer, name: str, tmp_path: Path) -> Deploy:
    (tmp_path / "specs").mkdir()
    made = Deploy(tmp_path / "specs", server.environ, name)
    made.channels = {"hook": {"webhook": "${secret:HOOK}/hook"}}
    return made


def settings(service: Receiver, queue: str) -> dict[str, str]:
    return {"task_queue": queue, "allow_commands": "true", "TICKWRIGHT_SECRET_HOOK": service.url}


def job(queue: str, **fields: Any) -> dict[str, Any]:
    return {"schedule": {"every": "2s"}, "task_queue": queue, "on_missed": MISSED, "contact": "ops", **fields}


def told(service: Receiver) -> dict[str, str]:
    """By job the reason that people were told."""
    return {each.document["job"]: each.document["reason"] for each in service.taken}


async def test_a_job_whose_workers_are_away_one_whose_schedule_is_gone_and_one_that_is_paused_are_told_once(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    here = {**MISSED, "task_queue": name}
    deploy.job("runs", **job(name, on_missed=here))
    deploy.job("slow", **job(name, on_missed=here, run={"command": ["sleep", "600"]}, timeout="20m"))
    deploy.job("gone", **job(name, on_missed=here))
    deploy.job("paused", **job(name, on_missed={**here, "paused_for": "8s"}))
    deploy.job("resting", **job(name, on_missed=here))
    deploy.job("waits", **job(f"{name}-nobody"))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        document = await deploy.sync()
        made = {each["job"] for each in document["changes"]}
        assert f"tickwright-watchdog-{name}/default" in made
        await asyncio.sleep(4)
        await client.get_schedule_handle(f"{name}-gone").delete()
        await client.get_schedule_handle(f"{name}-paused").pause(note="for the audit")
        await client.get_schedule_handle(f"{name}-resting").pause(note="for a while")
        jobs = {f"{name}-gone", f"{name}-paused", f"{name}-waits"}
        await service.until(lambda it: told(it).keys() >= jobs, "not told of all", timeout=90)
        await asyncio.sleep(8)
    assert told(service).keys() == jobs
    assert len(service.taken) == 3
    reasons = {key.removeprefix(f"{name}-"): reason for key, reason in told(service).items()}
    assert reasons["gone"] == "its schedule is missing; a sync creates it again"
    assert reasons["paused"].startswith("the schedule is paused, since ")
    assert reasons["paused"].endswith(": for the audit")
    assert reasons["waits"].endswith(f"; is one running for the task queue `{name}-nobody`?")
    assert f"the run {name}-waits-20" in reasons["waits"]
    found = service.taken[0].document
    assert (found["event"], found["contact"], found["outcome"], found["run_url"]) == ("missed", "ops", None, None)


@pytest.mark.parametrize("away", [0, 1])
async def test_of_two_queues_each_is_watched_from_the_other(
    server: DevServer, deploy: Deploy, service: Receiver, name: str, tmp_path: Path, away: int
) -> None:
    """Whichever of them has no workers."""
    queues = [f"{name}-0", f"{name}-1"]
    for number, queue in enumerate(queues):
        deploy.job(f"job-{number}", **job(queue))
    async with worker(server.address, cwd=tmp_path, **settings(service, queues[1 - away])):
        await deploy.sync()
        await service.until(lambda it: len(it.taken) == 1, "not told", timeout=60)
    assert told(service).keys() == {f"{name}-job-{away}"}


async def test_a_job_that_misses_again_after_it_ran_is_told_again(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    queue, job_name = f"{name}-jobs", f"{name}-waits"
    schedule = client.get_schedule_handle(job_name)
    deploy.job("waits", **job(queue, on_missed={**MISSED, "task_queue": name}, deadline="10m"))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: len(it.taken) == 1, "not told")
        async with asyncio.timeout(60):
            while job_name not in await told_by_watchdog(client, name):  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.2)
        async with worker(server.address, cwd=tmp_path, **settings(service, queue)), asyncio.timeout(60):
            while job_name in await told_by_watchdog(client, name):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.2)
            # No run may have begun when its worker is killed: it would go on for minutes.
            await schedule.pause()
            while (await schedule.describe()).info.running_actions:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.1)
        await schedule.unpause()
        await service.until(lambda it: len(it.taken) == 2, "not told again")
    assert {each.document["job"] for each in service.taken} == {job_name}


async def told_by_watchdog(client: Client, queue: str) -> list[str]:
    """The jobs of which people have been told, by the newest look of the watchdog of a task queue."""
    query = f"WorkflowType = 'TickwrightWatchdog' AND TaskQueue = '{queue}' AND ExecutionStatus = 'Completed'"
    newest = max([look.id async for look in client.list_workflows(query)], default="")
    if not newest:
        return []
    state: WatchState = await client.get_workflow_handle(newest, result_type=WatchState).result()
    return state.told


async def test_a_sync_without_such_jobs_removes_the_watchdog_and_the_plan_shows_it(
    server: DevServer, deploy: Deploy, name: str
) -> None:
    deploy.job("a", **job(name))
    await deploy.sync()
    assert (await deploy.run("--check")).code == 0
    deploy.job("a", schedule={"every": "2s"}, task_queue=name)
    shown = await deploy.run("--dry-run")
    assert f"delete tickwright-watchdog-{name}/default" in " ".join(shown.stderr.split())
