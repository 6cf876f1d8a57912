"""A kind of step that a package brings: the example of docs/code.md, installed from its wheel."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.deploy import Deploy
from tests.processes import ROOT, run_command, worker

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from pathlib import Path

    from temporalio.client import Client

    from tests.servers import DevServer


class Mailbox:
    """Stands in for a mail server, which no package brings: takes every mail, but for `nobody`."""

    def __init__(self) -> None:
        self.mails: list[str] = []

    async def __call__(self, reader: StreamReader, writer: StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        while command := (await reader.readline()).decode().strip().lower():
            if command == "data":
                writer.write(b"354 go on\r\n")
                self.mails.append((await reader.readuntil(b"\r\n.\r\n")).decode())
            refused = command.startswith("rcpt") and "nobody" in command
            writer.write(b"550 unknown\r\n" if refused else b"221 bye\r\n" if command == "quit" else b"250 well\r\n")
        writer.close()


def installed(folder: Path) -> dict[str, str]:
    """The environment of a process that has the package, from its wheel."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT / "examples" / "mail"],
        check=True,
    )
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", *folder.glob("*.whl")], check=True)
    return {"PYTHONPATH": f"{folder / 'site'}:{ROOT}"}


async def test_a_package_brings_a_kind_of_step(server: DevServer, client: Client, name: str, tmp_path: Path) -> None:
    has, mailbox = installed(tmp_path), Mailbox()
    listening = await asyncio.start_server(mailbox, "127.0.0.1", 0)
    address = f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    deploy = Deploy(jobs, {**server.environ, **has}, name)
    for job, to in (("report", "team@example.com"), ("lost", "nobody@example.com")):
        mail = {"server": address, "to": to, "subject": "Report of {scheduled_at:%Y}"}
        deploy.job(job, run={"mail": mail}, task_queue=name, retry={"max_attempts": 1})

    async with worker(server.address, cwd=tmp_path, task_queue=name):
        lacking = await deploy.run()
    assert "no handler for `mail` steps in the worker of task queue" in lacking.stderr
    async with listening, worker(server.address, cwd=tmp_path, task_queue=name, **has):
        synced = await deploy.run()
        assert (synced.code, "no handler" in synced.stderr) == (0, False), synced.stderr
        asked = [
            await run_command("schedules", "trigger", f"{name}-{job}", "--wait", env=deploy.environ)
            for job in ("report", "lost")
        ]
    assert [each.code for each in asked] == [0, 1], asked
    assert "nobody has the address nobody@example.com" in asked[1].stdout + asked[1].stderr
    [received] = mailbox.mails
    assert "Subject: Report of 20" in received

    deploy.job("report", run={"mail": {"server": address, "too": "x", "subject": "x"}})
    deploy.write()
    checked = await run_command("schedules", "lint", jobs, env=has)
    assert (checked.code, "run.mail.too: unknown key; did you mean `to`?" in checked.stderr) == (2, True), checked


async def test_a_package_that_is_broken_is_named(tmp_path: Path) -> None:
    has = installed(tmp_path)
    (tmp_path / "site" / "tickwright_mail" / "__init__.py").write_text("import nowhere\n")
    checked = await run_command("schedules", "lint", ROOT / "examples" / "jobs.yaml", env=has)
    assert checked.code == 2
    assert (
        "the kind of step `mail` (tickwright_mail:MailSpec) cannot be used: ModuleNotFoundError: No module named 'nowhere'"
        in checked.stderr
    )
    assert "Traceback" not in checked.stderr
