"""`channels`: what it shows, and a test that a real worker sends to a real service."""

from __future__ import annotations

from pathlib import Path

from tests.deploy import Deploy
from tests.processes import run_command, worker
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
    expected = [f"{file}: hook: {name}-a, {name}-b", f"{file}: spare: no job names it"]
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
    assert (sent.code, sent.stderr) == (0, "hook: taken by 1 address\n")
    assert service.events() == ["test"]
    assert (refused.code, refused.stderr) == (1, "channel hook: it answered 500 Internal Server Error\n")
    assert unknown.code == 1
    assert "the secret `GONE` is not known to this worker" in unknown.stderr


async def test_a_channel_that_there_is_not_is_told(server: DevServer, name: str, tmp_path: Path) -> None:
    project(server, name, tmp_path)
    shown = await run_command("schedules", "channels", tmp_path, "--test", "hok", env=server.environ)
    assert (shown.code, shown.stderr) == (2, f"{name}/default has no channel `hok`; did you mean `hook`?\n")
