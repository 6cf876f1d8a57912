"""`channels`: what it shows, and a test that a real worker sends to a real service."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from temporalio.client import Client, WorkflowExecutionStatus

from tests.deploy import Deploy
from tests.processes import run_command, started, worker
from tests.receiver import receiver
from tests.servers import DevServer


def project(server: DevServer, name: str, folder: Path) -> Deploy:
    made = Deploy(folder, server.environ, name)
    made.channels = {"hook": {"webhook": "${secret:HOOK}/hook"}, "spare": {"apprise": "${secret:GONE}"}}
    made.job("a", on_failure=["hook"], task_queue=name)
    made.job("b", on_missed=["hook"], task_queue=name)
    made.write()
    return made


async def test_it_shows_who_names_which_channel(server: DevServer, name: str, tmp_path: Path) -> None:
    project(server, name, tmp_path)
    shown = await run_command("schedules", "channels", tmp_path)
    file = tmp_path / "jobs.json"
    expected = [f"{file}: hook: {name}-a, {name}-b", f"{file}: spare: no job uses it"]
    assert (shown.code, shown.stderr.splitlines()) == (0, expected)


async def test_a_test_is_sent_by_a_worker_and_what_did_not_take_it_is_told(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    (tmp_path / "specs").mkdir()
    made = project(server, name, tmp_path / "specs")
    async with (
        receiver() as service,
        worker(server.address, cwd=tmp_path, task_queue=name, TICKWRIGHT_SECRET_HOOK=service.url),
    ):
        sent = await run_command("schedules", "channels", made.folder, "--test", "hook", env=server.environ)
        service.status = 500
        refused = await run_command("schedules", "channels", made.folder, "--test", "hook", env=server.environ)
        unknown = await run_command("schedules", "channels", made.folder, "--test", "spare", env=server.environ)
    assert (sent.code, sent.stderr) == (0, "hook: delivered to 1 address\n")
    assert service.events() == ["test"]
    assert (refused.code, refused.stderr) == (1, "channel hook: it answered 500 Internal Server Error\n")
    assert unknown.code == 1
    assert "this worker has no secret `GONE`" in unknown.stderr


async def test_a_channel_that_there_is_not_is_told(server: DevServer, name: str, tmp_path: Path) -> None:
    project(server, name, tmp_path)
    shown = await run_command("schedules", "channels", tmp_path, "--test", "hok", env=server.environ)
    assert (shown.code, shown.stderr) == (2, f"{name}/default has no channel `hok`; did you mean `hook`?\n")


async def test_without_a_worker_that_is_told_at_once_and_a_test_that_is_left_is_taken_back(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    project(server, name, tmp_path)
    words = ("channels", tmp_path, "--test", "hook")
    async with started("schedules", *words, env=server.environ) as waiting:
        told = f"no worker polls task queue `{name}`; waiting for one, at most 60 s"
        await waiting.until(lambda: told in waiting.err, "not a word")
        [notice] = await _notices(client, name)
        waiting.signal(signal.SIGTERM)
        code = await waiting.wait()
    ended = await client.get_workflow_handle(notice).describe()

    assert (code, ended.status) == (143, WorkflowExecutionStatus.TERMINATED)
    assert "interrupted; the test notice was cancelled, unless it was already being sent" in waiting.err


async def _notices(client: Client, task_queue: str) -> list[str]:
    """The ids of those that wait, once there is one."""
    async with asyncio.timeout(60):
        while True:
            query = f"TaskQueue = '{task_queue}' AND ExecutionStatus = 'Running'"
            if found := [each.id async for each in client.list_workflows(query)]:
                return found
            await asyncio.sleep(0.1)
