"""`explain` tells who was told of an occurrence: real incidents, a real watchdog, and a service that takes notices or does not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from schedules.ledger.explain import explain
from schedules.ledger.records import Records
from schedules.views.explain import explained_json, explained_text
from tests.deploy import Deploy
from tests.integration.scenes import SECOND, now, until
from tests.processes import run_command, worker
from tests.receiver import Receiver
from tests.servers import DevServer

SECRET = "word-789"


@pytest.fixture
def deploy(server: DevServer, name: str, tmp_path: Path) -> Deploy:
    (tmp_path / "specs").mkdir()
    made = Deploy(tmp_path / "specs", server.environ, name)
    made.channels = {
        "hook": {"webhook": {"url": "${secret:HOOK}/hook?key=${secret:WORD}"}},
        "away": {"webhook": {"url": "${secret:AWAY}/away"}},
    }
    return made


def settings(service: Receiver, name: str) -> dict[str, str]:
    return {
        "task_queue": name,
        "allow_commands": "true",
        "TICKWRIGHT_SECRET_HOOK": service.url,
        "TICKWRIGHT_SECRET_AWAY": "http://127.0.0.1:1",
        "TICKWRIGHT_SECRET_WORD": SECRET,
    }


async def explained(client: Client, job: str, workflow_id: str) -> tuple[dict[str, Any], str]:
    """What is told of alerts, as JSON and as text."""
    told = await explain(Records(client), job, workflow_id, now())
    document, text = explained_json(told), explained_text(told)
    assert SECRET not in json.dumps(document) + text
    alerts: dict[str, Any] = document["alerts"]
    return alerts, text


async def incidents(server: DevServer, project: str) -> dict[str, Any]:
    """What `status` says of those that are open, by job."""
    done = await run_command(
        "schedules", "status", "--owner", f"{project}/default", "--output", "json", env=server.environ
    )
    assert done.code == 0, done.stderr
    return {each["job"]: each["incident"] for each in json.loads(done.stdout)["jobs"]}


async def ended(client: Client, job: str, count: int) -> list[str]:
    """Ids of the job's first runs, once so many have ended."""
    query = f"TemporalScheduledById = '{job}' AND ExecutionStatus != 'Running'"
    async with asyncio.timeout(60):
        while len(found := [each.id async for each in client.list_workflows(query)]) < count:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.1)
    return sorted(found)


async def test_each_run_of_an_incident_says_which_channel_was_told_and_why_not(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    fails = {"command": {"argv": ["[ -e mended ]"], "shell": True}}
    every = {"schedule": {"every": "3s"}, "task_queue": name, "run": fails}
    deploy.job("told", **every, on_failure={"channels": ["hook", "away"], "after": 2})
    deploy.job("silent", **every)
    job, silent = f"{name}-told", f"{name}-silent"
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: it.events() == ["failure"], "not told")
        first, second, third = (await ended(client, job, 3))[:3]
        open_then = await incidents(server, name)
        (tmp_path / "mended").touch()
        await service.until(lambda it: it.events()[-1] == "recovery", "no recovery")
        [recovered] = [each.document["workflow_id"] for each in service.taken if each.document["event"] == "recovery"]
        after = max(
            await ended(client, job, len(await ended(client, job, 1)) + 2)
        )  # the one that told may not be closed
        below, failure = await explained(client, job, first), await explained(client, job, second)
        during, recovery = await explained(client, job, third), await explained(client, job, recovered)
        well, unwatched = (
            await explained(client, job, after),
            await explained(client, silent, (await ended(client, silent, 1))[0]),
        )

    since = first.removeprefix(f"{job}-")
    notices = {each["channel"]: each["state"] for each in open_then[job].pop("notices")}
    assert notices == {"hook": "delivered", "away": "under_way"}
    assert open_then == {job: {"since": since, "told_from_failure": 2, "channels": ["hook", "away"]}, silent: None}
    assert below[0]["notices"] == []
    assert below[0]["none_because"] == "failure 1 in a row, and the notice comes with failure 2 (after: 2)"
    assert below[0]["incident"]["told_of"] == second
    assert below[0]["incident"]["since"] == since
    assert below[0]["incident"]["ended_by"] == recovered
    by_channel = {each["channel"]: each for each in failure[0]["notices"]}
    assert (by_channel["hook"]["event"], by_channel["hook"]["state"]) == ("failure", "delivered")
    assert by_channel["hook"]["evidence"]["workflow_id"] == f"tickwright-incident-{job}"
    assert by_channel["away"]["state"] == "under_way"
    assert by_channel["away"]["error"].startswith("channel away: no answer")
    assert failure[0]["none_because"] is None
    assert "notice     failure to channel hook: delivered at 20" in failure[1]
    assert "notice     failure to channel away: not delivered yet" in failure[1]
    assert f"incident   failure 2 in a row; since {since}, notice sent for {second}, ended by {recovered}" in failure[1]
    assert during[0]["none_because"] == f"the incident, open since {since}, already had its notice, for {second}"
    assert {(each["event"], each["channel"]) for each in recovery[0]["notices"]} == {("recovery", "hook")}
    assert recovery[0]["incident"]["failure_in_a_row"] is None
    assert well[0]["none_because"] == "it succeeded, and no incident was open"
    assert unwatched[0]["none_because"].startswith("no channel: ")
    assert "notice     none: no channel" in unwatched[1]


async def test_a_notice_that_was_given_up_says_so(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    """Its workflow was terminated: as after a day, nobody tries any more."""
    deploy.job("ledger", schedule={"every": "1h"}, task_queue=name, run={"command": ["false"]}, on_failure=["away"])
    job = f"{name}-ledger"
    async with worker(server.address, cwd=tmp_path, **settings(service, name)) as running:
        await deploy.sync()
        await client.get_schedule_handle(job).trigger()
        [run] = await ended(client, job, 1)
        await running.until_log("not_delivered")
        await client.get_workflow_handle(f"tickwright-incident-{job}").terminate(reason="enough")
        alerts, text = await explained(client, job, run)
    assert [each["state"] for each in alerts["notices"]] == ["given_up"]
    assert "given up at 20" in text


async def test_a_missed_run_says_who_was_told_of_it_and_the_next_why_not(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    """No worker takes them; the watchdog's own is there."""
    deploy.job(
        "lonely",
        schedule={"every": "3s"},
        overlap="allow_all",
        task_queue=f"{name}-nobody",
        on_missed={"channels": ["hook"], "grace": "5s", "task_queue": name},
    )
    deploy.job("unwatched", schedule={"every": "3s"}, overlap="allow_all", task_queue=f"{name}-nobody")
    job = f"{name}-lonely"
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: it.events() == ["missed"], "not told")
        first = f"{job}-{service.taken[0].document['scheduled_at']}"
        told = now()
        await until(told + 6 * SECOND)
        runs = [each.id async for each in client.list_workflows(f"TemporalScheduledById = '{job}'")]
        later = min(each for each in runs if each > first)
        newest = max(runs)
        found, again, fresh = [await explained(client, job, each) for each in (first, later, newest)]
        other = max([each.id async for each in client.list_workflows(f"TemporalScheduledById = '{name}-unwatched'")])
        unwatched = await explained(client, f"{name}-unwatched", other)

    assert [(each["event"], each["channel"], each["state"]) for each in found[0]["notices"]] == [
        ("missed", "hook", "delivered")
    ]
    assert found[0]["notices"][0]["evidence"]["workflow_id"] == f"tickwright-missed-{first}"
    assert (
        again[0]["none_because"]
        == f"the job had its notice, for its time {first.removeprefix(f'{job}-')}; the next comes after it has run again"
    )
    assert fresh[0]["none_because"].startswith("its grace of 5s ends at 20")
    assert unwatched[0]["none_because"].startswith("no watchdog has checked the job")
