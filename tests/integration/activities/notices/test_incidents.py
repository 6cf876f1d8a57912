"""An incident ends with the job's next success, whoever started what: schedules of seconds on a real server and a worker process."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.notices.contract import INCIDENT_PREFIX, INCIDENT_WORKFLOW
from schedules.ledger.explain import explain
from schedules.ledger.records import Records
from schedules.views.explain import explained_json
from tests.deploy import Deploy
from tests.integration.scenes import now
from tests.processes import run_command, worker
from tests.receiver import Receiver
from tests.servers import DevServer

GOOD = {"command": {"argv": ["[ -e mended ]"], "shell": True}}
AWAY = 7.0
"""Seconds without a worker, of a job that runs every two."""


@pytest.fixture
def deploy(server: DevServer, name: str, tmp_path: Path) -> Deploy:
    (tmp_path / "specs").mkdir()
    made = Deploy(tmp_path / "specs", server.environ, name)
    made.channels = {place: {"webhook": f"${{secret:HOOK}}/{place}"} for place in ("hook", "other")}
    return made


def settings(service: Receiver, name: str) -> dict[str, str]:
    return {"task_queue": name, "allow_commands": "true", "TICKWRIGHT_SECRET_HOOK": service.url}


def ledger(name: str, **fields: Any) -> dict[str, Any]:
    """A job that fails until the file `mended` is there."""
    usual = {"schedule": {"every": "2s"}, "task_queue": name, "run": GOOD, "on_failure": ["hook"], "timeout": "20s"}
    return {**usual, **fields}


def told(service: Receiver) -> list[tuple[str, int]]:
    """Each notice with the failures in a row that it tells of."""
    return [(each.document["event"], each.document["failures"]) for each in service.taken]


async def fail_by_hand(server: DevServer, job: str) -> None:
    command = ["trigger", job, "--set", 'command.argv=["false"]', "--wait"]
    done = await run_command("schedules", *command, env=server.environ, timeout=60.0)
    assert "failed" in done.stdout, (done.stdout, done.stderr)


async def part(client: Client, job: str, workflow_id: str) -> dict[str, Any]:
    """The part that a run has in an incident, as `explain` tells it."""
    document = explained_json(await explain(Records(client), job, workflow_id, now()))
    found: dict[str, Any] = document["alerts"]["incident"]
    return found


async def until_success(client: Client, job: str, count: int = 1) -> None:
    query = f"TemporalScheduledById = '{job}' AND ExecutionStatus = 'Completed'"
    async with asyncio.timeout(60):
        while (await client.count_workflows(query)).count < count:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.05)


async def until_no_incident(client: Client, job: str, timeout: float = 60.0) -> None:
    query = f"WorkflowId = '{INCIDENT_PREFIX}{job}' AND ExecutionStatus = 'Running'"
    async with asyncio.timeout(timeout):
        while (await client.count_workflows(query)).count:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.1)


async def test_a_notice_that_nobody_takes_is_not_told_as_delivered_and_goes_to_a_mended_address(
    server: DevServer, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    """With its next try, not with the job's next run."""
    deploy.channels["hook"] = {"webhook": {"url": "${secret:HOOK}/hook", "headers": {"A": "${secret:HOOK_TOKEN}"}}}
    deploy.job("ledger", **ledger(name, schedule="0 0 1 1 *"))
    job = f"{name}-ledger"

    async def incident() -> tuple[str, dict[str, Any]]:
        done = await run_command("schedules", "status", job_path, "--output", "json", env=server.environ)
        text = await run_command("schedules", "status", job_path, env=server.environ)
        [found] = json.loads(done.stdout)["jobs"]
        return text.stdout + text.stderr, found["incident"]

    job_path = str(deploy.folder)
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await fail_by_hand(server, job)
        async with asyncio.timeout(60):
            while (seen := await incident())[1]["notices"] in ([], None) or not seen[1]["notices"][0]["error"]:
                pass
        text, found = seen
        assert [(each["channel"], each["state"]) for each in found["notices"]] == [("hook", "under_way")]
        assert "not delivered yet" in text
        assert "has no secret `HOOK_TOKEN`" in found["notices"][0]["error"]
        assert service.taken == []
        deploy.channels["hook"] = {"webhook": "${secret:HOOK}/mended"}
        await deploy.sync()
        await service.until(lambda it: [each.path for each in it.taken] == ["/mended"], "not told", timeout=90)
        async with asyncio.timeout(60):
            while (await incident())[1]["notices"][0]["state"] != "delivered":
                pass


async def test_a_failure_of_what_is_made_up_for_after_an_outage_recovers_with_the_next_success(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    """The late run ends as superseded; what ran in its stead has failed, and the schedule's next run has to know of that."""
    deploy.job("ledger", **ledger(name))
    (tmp_path / "mended").touch()
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await until_success(client, f"{name}-ledger", 2)
    (tmp_path / "mended").unlink()
    await asyncio.sleep(AWAY)
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await service.until(lambda it: it.events() == ["failure"], "not told")
        (tmp_path / "mended").touch()
        await service.until(lambda it: it.events() == ["failure", "recovery"], "no recovery")


async def test_a_failed_run_by_hand_recovers_with_the_schedules_next_success(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    (tmp_path / "mended").touch()
    job = f"{name}-ledger"
    deploy.job("ledger", **ledger(name, on_failure={"channels": ["hook"], "remind_every": "1s"}))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await until_success(client, job)
        await fail_by_hand(server, job)
        await service.until(lambda it: "recovery" in it.events(), "no recovery")
        await until_no_incident(client, job)
        first = told(service)
        (tmp_path / "mended").unlink()
        await service.until(lambda it: it.events().count("failure") == 2, "not told of the next incident")
    assert (first[0], first[-1]) == (("failure", 1), ("recovery", 1))
    assert told(service)[len(first)] == ("failure", 1)


async def test_a_failure_after_a_success_of_which_nobody_told_is_an_incident_of_its_own(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    (tmp_path / "mended").touch()
    job = f"{name}-ledger"
    deploy.job("ledger", **ledger(name))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await until_success(client, job, 2)
        await fail_by_hand(server, job)
        before = [each async for each in client.list_workflows(f"TemporalScheduledById = '{job}'")]
        await until_success(client, job, len(before) + 1)
        (tmp_path / "mended").unlink()
        await service.until(lambda it: len(it.taken) >= 3, "not told of the next incident")
    assert told(service)[:3] == [("failure", 1), ("recovery", 1), ("failure", 1)]
    recovery, failure = (each.document for each in service.taken[1:3])
    assert recovery["workflow_id"] == f"{job}-{recovery['scheduled_at']}"
    assert failure["since"] == failure["scheduled_at"] > recovery["scheduled_at"] > recovery["since"]
    parts = {each["workflow_id"]: await part(client, job, each["workflow_id"]) for each in (recovery, failure)}
    assert parts[recovery["workflow_id"]]["failure_in_a_row"] is None
    assert parts[recovery["workflow_id"]]["told_of"] != failure["workflow_id"]
    assert parts[failure["workflow_id"]]["failure_in_a_row"] == 1
    assert parts[failure["workflow_id"]]["told_of"] == failure["workflow_id"]


async def test_an_incident_that_was_told_by_its_pause_recovers(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    told_late = {"channels": ["hook"], "after": 3}
    deploy.job("ledger", **ledger(name, on_failure=told_late, pause_after={"failures": 2, "retry_every": "1s"}))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: it.events() == ["paused"], "not told")
        (tmp_path / "mended").touch()
        await service.until(lambda it: it.events() == ["paused", "recovery"], "no recovery")


async def test_the_incident_of_a_job_that_is_deleted_ends_and_the_job_made_anew_has_one_of_its_own(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    deploy.job("ledger", **ledger(name))
    deploy.job("stays", schedule={"every": "1d"}, task_queue=name)
    stays = {f"{name}-stays": deploy.jobs[f"{name}-stays"]}
    everything = dict(deploy.jobs)
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: it.events() == ["failure"], "not told")
        deploy.jobs = stays
        await deploy.sync()
        deploy.jobs = everything
        await deploy.sync()
        await service.until(lambda it: len(it.taken) == 2, "not told of the new schedule")
    assert told(service) == [("failure", 1), ("failure", 1)]


async def test_the_incident_of_a_job_that_tells_nobody_any_more_ends_with_its_next_look(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    deploy.job("ledger", **ledger(name, on_failure={"channels": ["hook"], "remind_every": "4s"}))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: it.events() == ["failure"], "not told")
        del deploy.jobs[f"{name}-ledger"]["on_failure"]
        await deploy.sync()
        await until_no_incident(client, f"{name}-ledger")
    assert "recovery" not in service.events()


async def test_those_who_want_only_the_recovery_are_told_of_nothing_else(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    deploy.job("ledger", **ledger(name, on_failure=[], on_recovery=["other"]))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        query = f"WorkflowType = '{INCIDENT_WORKFLOW}' AND WorkflowId = '{INCIDENT_PREFIX}{name}-ledger'"
        async with asyncio.timeout(60):
            while not (await client.count_workflows(query)).count:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.05)
        (tmp_path / "mended").touch()
        await service.until(lambda it: it.taken, "no recovery")
    assert [(each.path, each.document["event"]) for each in service.taken] == [("/other", "recovery")]
