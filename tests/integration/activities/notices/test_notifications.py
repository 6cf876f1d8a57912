"""People are told of failures: schedules of seconds on a real server, a worker process, and a real service that is called."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.notices.contract import PAUSE_MARK
from tests.deploy import Deploy
from tests.processes import worker
from tests.receiver import Receiver
from tests.servers import DevServer

FAILS_UNTIL_MENDED = "echo the ledger is away; echo password-123 >&2; [ -e mended ]"


@pytest.fixture
def deploy(server: DevServer, name: str, tmp_path: Path) -> Deploy:
    (tmp_path / "specs").mkdir()
    made = Deploy(tmp_path / "specs", server.environ, name)
    made.channels = {
        "hook": {"webhook": {"url": "${secret:HOOK}/hook", "headers": {"X-Token": "${secret:TOKEN}"}}},
        "ops": {"apprise": "${secret:APPRISE}"},
    }
    return made


def settings(service: Receiver, name: str) -> dict[str, str]:
    return {
        "task_queue": name,
        "allow_commands": "true",
        "ui_url": "https://temporal.example/",
        "TICKWRIGHT_SECRET_HOOK": service.url,
        "TICKWRIGHT_SECRET_TOKEN": "token-456",
        "TICKWRIGHT_SECRET_WORD": "password-123",
        "TICKWRIGHT_SECRET_APPRISE": f"{service.url.replace('http', 'json')}/apprise?token-456=1",
    }


def failing(name: str, every: str = "1s", **fields: Any) -> dict[str, Any]:
    command = {"argv": [FAILS_UNTIL_MENDED], "shell": True, "env": {"WORD": "${secret:WORD}"}}
    return {"schedule": {"every": every}, "task_queue": name, "run": {"command": command}, **fields}


async def standing(client: Client, job: str) -> tuple[bool, str]:
    state = (await client.get_schedule_handle(job).describe()).schedule.state
    return state.paused, state.note or ""


async def until_standing(client: Client, job: str, *, paused: bool) -> str:
    async with asyncio.timeout(60):
        while (found := await standing(client, job))[0] != paused:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.05)
    return found[1]


async def test_an_incident_is_told_once_reminded_of_and_ended_by_the_first_success(
    server: DevServer, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    who = {"contact": "billing <team> \N{SNOWMAN}", "runbook": "https://wiki.example/ledger"}
    told = {"channels": ["hook", "ops"], "after": 2, "remind_every": "3s"}
    deploy.job("ledger", **failing(name, on_failure=told, **who))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: it.events().count("reminder") == 2, "no second reminder")
        (tmp_path / "mended").touch()
        await service.until(lambda it: "recovery" in it.events(), "no recovery")
        await service.until(lambda it: [e.path for e in it.taken].count("/apprise") == 4, "not all by apprise")
        await asyncio.sleep(2)
    events = service.events()
    assert (events.count("failure"), events[0], events[-1], events.count("recovery")) == (1, "failure", "recovery", 1)
    first, last = (
        next(e for e in service.taken if e.path == "/hook" and e.document["event"] == kind)
        for kind in ("failure", "recovery")
    )
    found = first.document
    job = f"{name}-ledger"
    assert found["failures"] == 2
    assert found["title"] == f"[{name}/default] {job} failed 2 times in a row"
    assert (found["project"], found["environment"], found["job"], found["outcome"]) == (name, "default", job, "failed")
    assert (found["contact"], found["runbook"]) == (who["contact"], who["runbook"])
    assert found["since"] < found["scheduled_at"]
    assert found["timezone"] == "America/New_York"
    assert found["scheduled_local"].endswith(("EST", "EDT"))
    assert found["output"] == "the ledger is away\n***"
    assert found["attempts"] == 1
    run = f"{job}-{found['scheduled_at']}"
    assert found["workflow_id"] == run
    assert (
        found["run_url"]
        == f"https://temporal.example/namespaces/default/workflows/{run.replace(':', '%3A')}/{found['run_id']}/history"
    )
    assert first.headers["X-Token"] == "token-456"
    assert last.document["outcome"] == "succeeded"
    assert last.document["since"] == found["since"]
    assert len({each.key for each in service.taken if each.path == "/hook"}) == len(events)
    by_apprise = [each.document["title"] for each in service.taken if each.path == "/apprise"]
    assert by_apprise[0] == found["title"]
    assert "password-123" not in "".join(each.body for each in service.requests)


async def test_a_run_without_channels_has_no_event_more_and_nor_has_a_success_after_a_success(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    (tmp_path / "mended").touch()
    jobs = ("plain", "watched")
    deploy.job("plain", **failing(name, every="1d"))
    deploy.job("watched", **failing(name, every="1d", on_failure="hook"))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        for count in range(1, 4):
            await next_second()  # A run by hand has the id of its second.
            for job in jobs:
                await trigger(server, f"{name}-{job}")
            lengths = {job: await history_lengths(client, f"{name}-{job}", count) for job in jobs}
    assert lengths == {"plain": [11, 11, 11], "watched": [12, 11, 11]}  # The first asks: nothing was known before it.
    assert service.requests == []


async def next_second() -> None:
    await asyncio.sleep(1 - time.time() % 1)


async def history_lengths(client: Client, job: str, count: int) -> list[int]:
    """Of the first runs, once so many have ended."""
    query = f"TemporalScheduledById = '{job}' AND ExecutionStatus = 'Completed'"
    async with asyncio.timeout(60):
        while len(found := [each async for each in client.list_workflows(query)]) < count:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.2)
    return [each.history_length for each in sorted(found, key=lambda each: each.id)[:count]]


async def test_a_service_that_is_away_gets_the_notice_later_and_the_job_goes_on(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    service.status = 503
    deploy.job("ledger", **failing(name, on_failure=["hook"]))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: len(it.requests) >= 2, "not tried again")
        (tmp_path / "mended").touch()
        lengths = await history_lengths(client, f"{name}-ledger", 2)
        service.status = 200
        await service.until(lambda it: it.events() == ["failure", "recovery"], "not both, in order")
    assert len({each.key for each in service.requests}) == 2
    assert len(lengths) == 2


async def test_a_worker_that_is_killed_between_the_outcome_and_the_notice_leaves_it_to_the_next(
    server: DevServer, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    service.delay = 60.0
    deploy.job("ledger", **failing(name, schedule={"every": "1d"}, on_failure=["hook"]))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)) as first:
        await deploy.sync()
        await trigger(server, f"{name}-ledger")
        await service.until(lambda it: it.requests, "not sent")
        first.process.kill()
        await first.wait()
    service.delay = 0.0
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await service.until(lambda it: it.events() == ["failure"], "not sent by the next worker", timeout=90)
        await asyncio.sleep(1)
    assert [each.key for each in service.requests] == [service.requests[0].key] * 2


async def trigger(server: DevServer, job: str) -> None:
    client = await Client.connect(server.address)
    await client.get_schedule_handle(job).trigger()


async def test_failures_in_a_row_pause_the_job_and_a_try_that_succeeds_resumes_it(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    deploy.job("ledger", **failing(name, on_failure=["hook"], pause_after={"failures": 3, "retry_every": "2s"}))
    job = f"{name}-ledger"
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        note = await until_standing(client, job, paused=True)
        assert note.startswith(f"{PAUSE_MARK}3, the last scheduled for 20")
        await service.until(lambda it: it.events() == ["failure", "paused"], "not told of the pause")
        await until_failures(client, job, 5)  # Two tries that failed left it paused.
        assert (await standing(client, job))[0]
        (tmp_path / "mended").touch()
        await until_standing(client, job, paused=False)
        await service.until(lambda it: it.events() == ["failure", "paused", "recovery"], "no recovery")
        assert len(await history_lengths(client, job, 3)) == 3  # It runs on schedule again.


async def until_failures(client: Client, job: str, count: int) -> None:
    query = f"TemporalScheduledById = '{job}' AND ExecutionStatus = 'Failed'"
    async with asyncio.timeout(60):
        while (await client.count_workflows(query)).count < count:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.1)


async def test_an_operators_pause_and_resumption_both_stand(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    deploy.job("ledger", **failing(name, on_failure=["hook"], pause_after={"failures": 2, "retry_every": "2s"}))
    job = f"{name}-ledger"
    schedule = client.get_schedule_handle(job)
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await until_standing(client, job, paused=True)
        await schedule.unpause(note="let it go on")
        note = await until_standing(client, job, paused=True)  # It fails twice more.
        assert note.startswith(f"{PAUSE_MARK}")
        await schedule.pause(note="hands off")
        failures = (await client.count_workflows(f"TemporalScheduledById = '{job}'")).count
        await asyncio.sleep(5)
        assert (await client.count_workflows(f"TemporalScheduledById = '{job}'")).count <= failures + 1
        assert await standing(client, job) == (True, "hands off")


async def test_an_outside_monitor_hears_of_the_start_and_of_the_end(
    server: DevServer, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    deploy.job("ledger", **failing(name, ping="${secret:HOOK}/ping/ledger"))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)):
        await deploy.sync()
        await service.until(lambda it: any(each.path == "/ping/ledger/fail" for each in it.taken), "no fail")
        (tmp_path / "mended").touch()
        await service.until(lambda it: any(each.path == "/ping/ledger" for each in it.taken), "no success")
    by_run: dict[str, list[str]] = {}
    for each in service.taken:
        by_run.setdefault(each.query["rid"], []).append(each.path.removeprefix("/ping/ledger"))
    assert ["/start", "/fail"] in by_run.values()
    assert ["/start", ""] in by_run.values()
    fail = next(each for each in service.taken if each.path.endswith("/fail"))
    assert fail.body.startswith("step run: ")


async def test_a_monitor_that_is_away_fails_no_run(
    server: DevServer, client: Client, deploy: Deploy, service: Receiver, name: str, tmp_path: Path
) -> None:
    service.status = 500
    (tmp_path / "mended").touch()
    deploy.job("ledger", **failing(name, ping="${secret:HOOK}/ping"))
    async with worker(server.address, cwd=tmp_path, **settings(service, name)) as running:
        await deploy.sync()
        await history_lengths(client, f"{name}-ledger", 1)
        await running.until_log("not_delivered")
    assert service.taken == []
