"""Jobs that run once for each new build of the workers: real workers, a real server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from temporalio.client import Client

from activities.contract import JobResult
from schedules.server.codec_keys import KEYS
from tests.codec_texts import key_text
from tests.deploy import Deploy
from tests.processes import run_command, worker
from tests.servers import DevServer


async def runs_of(client: Client, job: str) -> list[JobResult]:
    """The results of the job's runs, oldest first."""
    found = [run async for run in client.list_workflows(f"WorkflowId STARTS_WITH '{job}-'")]
    return [
        await client.get_workflow_handle(run.id, result_type=JobResult).result()
        for run in sorted(found, key=lambda run: run.id)
    ]


async def until_taken(client: Client, task_queue: str, announcements: int) -> None:
    """Waits until so many workers have announced their builds, and what came of it has been done."""
    handle = client.get_workflow_handle(f"tickwright-builds-{task_queue}")
    async with asyncio.timeout(60):
        while True:
            kinds = [event.WhichOneof("attributes") async for event in handle.fetch_history_events()]
            taken = kinds[-1] == "workflow_task_completed_event_attributes"
            if kinds.count("workflow_execution_signaled_event_attributes") == announcements and taken:
                return
            await asyncio.sleep(0.1)


async def test_a_reboot_job_runs_once_for_each_new_build_whatever_the_number_of_its_workers(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    deploy = Deploy(tmp_path, server.environ, name)
    deploy.job("migrate", schedule="@reboot", task_queue=name)
    deploy.job("also-daily", schedule=["0 3 * * *", "@reboot"], task_queue=name)
    deploy.job("paused", schedule="@reboot", task_queue=name, paused=True)
    deploy.job("not-yet", schedule="@reboot", task_queue=name, start_at="2099-01-01T00:00")
    deploy.job("elsewhere", schedule="@reboot", task_queue=f"{name}-other")
    deploy.job("daily", task_queue=name)
    await deploy.sync()
    for announced, build in enumerate(["one", "one", "two", "one"], 1):
        async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true", build_id=build):
            await until_taken(client, name, announced)
            found = {job: await runs_of(client, job) for job in deploy.jobs}
        builds = min(announced, 3) - (announced > 1)
        expected = {"migrate": builds, "also-daily": builds}
        assert {job.removeprefix(f"{name}-"): len(runs) for job, runs in found.items() if runs} == expected
        assert {run.outcome for runs in found.values() for run in runs} == {"succeeded"}


async def test_which_build_started_it_is_told_and_no_date_that_is_only_a_mark(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """Also where payloads are encrypted."""
    environ = {**server.environ, KEYS: key_text("new")}
    deploy = Deploy(tmp_path, environ, name)
    job = f"{name}-migrate"
    deploy.job("migrate", schedule="@reboot", task_queue=name)
    await deploy.sync()
    settings = {"task_queue": name, "allow_commands": "true", "build_id": "build-two", KEYS: key_text("new")}
    async with worker(server.address, cwd=tmp_path, **settings):
        await until_taken(client, name, 1)

    async def asked(verb: str, *words: str) -> tuple[str, Any]:
        text = await run_command("schedules", verb, *words, env=environ)
        document = await run_command("schedules", verb, *words, "--output", "json", env=environ)
        assert (text.code, document.code) == (0, 0), text.stderr + document.stderr
        assert "2099" not in text.stdout + text.stderr + document.stdout
        return text.stdout + text.stderr, json.loads(document.stdout)

    text, document = await asked("runs", job)
    assert "started for build build-two of the workers" in text
    [occurrence] = document["occurrences"]
    assert (occurrence["origin"], occurrence["run"]["build"]) == ("new_build", "build-two")
    text, document = await asked("explain", job, occurrence["scheduled_at"])
    assert "yes: a new build of the workers started" in text
    assert "by hand" not in text
    assert document["due"] == "new_build"
    text, document = await asked("status", str(deploy.folder))
    assert "last started for build build-two; starts with each new build of the workers" in text
    [state] = document["jobs"]
    assert state["next"] is None
    await asked("forecast", str(deploy.folder))
    text = (await run_command("schedules", "next", job, str(deploy.folder))).stdout
    assert "it runs once for each new build of the workers" in text


async def test_two_workers_of_a_build_that_come_up_together_run_it_once(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    deploy = Deploy(tmp_path, server.environ, name)
    deploy.job("migrate", schedule="@reboot", task_queue=name)
    await deploy.sync()
    settings = {"task_queue": name, "allow_commands": "true", "build_id": "one"}
    async with (
        worker(server.address, cwd=tmp_path, **settings),
        worker(server.address, cwd=tmp_path, **settings),
    ):
        await until_taken(client, name, 2)
        assert len(await runs_of(client, f"{name}-migrate")) == 1


async def test_one_whose_key_the_workers_lack_keeps_no_other_from_starting(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """Wherever it stands in the server's list: one was made before the other job, one after it."""
    for project, keys in (("first", {KEYS: key_text("gone")}), ("open", {}), ("last", {KEYS: key_text("gone")})):
        folder = tmp_path / project
        folder.mkdir()
        deploy = Deploy(folder, {**server.environ, **keys}, f"{name}-{project}")
        deploy.job("migrate", schedule="@reboot", task_queue=name)
        await deploy.sync()
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true", build_id="one"):
        async with asyncio.timeout(60):
            while not (found := await runs_of(client, f"{name}-open-migrate")):  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.2)
    assert [run.outcome for run in found] == ["succeeded"]


async def test_a_reboot_job_is_in_sync_after_a_sync_and_next_has_no_times(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    deploy = Deploy(tmp_path, server.environ, name)
    deploy.job("migrate", schedule="@reboot", task_queue=name)
    await deploy.sync()
    assert (await deploy.run("--check")).code == 0
    shown = await run_command("schedules", "next", f"{name}-migrate", tmp_path)
    assert shown.stdout.splitlines() == [
        "@reboot in America/New_York: once for each new build of the workers",
        "no scheduled times: it runs once for each new build of the workers",
    ]
    assert (
        '"occurrences": []' in (await run_command("schedules", "next", "--cron", "@reboot", "--output", "json")).stdout
    )
