"""A worker that is the first process of a container, as in the image and on Kubernetes: a PID namespace of its own."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.processes import RunningWorker, started_process
from tests.runs import request, shell, start
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from temporalio.client import Client

    from tests.servers import DevServer

UNSHARE = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]
EXEC = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
HANDLERS = """
import subprocess
from activities import handler

@handler("exit-codes")
def exit_codes() -> list[int]:
    return [subprocess.run(["sh", "-c", f"sleep 0.01; exit {code}"]).returncode for code in range(40)]
"""


def _namespaces() -> bool:
    with suppress(OSError):
        return subprocess.run([*UNSHARE, "true"], check=False, capture_output=True).returncode == 0
    return False


pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not _namespaces(), reason="this machine makes no PID namespace for us"
)


@asynccontextmanager
async def first_process(server: DevServer, folder: Path, task_queue: str) -> AsyncIterator[RunningWorker]:
    """A worker with commands that is PID 1 of its namespace."""
    (folder / "own_handlers.py").write_text(HANDLERS)
    settings = {
        "TEMPORAL_ADDRESS": server.address,
        "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0",
        "TICKWRIGHT_TASK_QUEUE": task_queue,
        "TICKWRIGHT_ALLOW_COMMANDS": "true",
        "TICKWRIGHT_MODULES": "own_handlers",
    }
    command = (*UNSHARE, sys.executable, "-m", "worker")
    async with started_process("-c", EXEC, *command, env=settings, cwd=folder, kind=RunningWorker) as running:
        assert isinstance(running, RunningWorker)
        await running.until_ready()
        yield running


def zombies(running: RunningWorker) -> list[psutil.Process]:
    """Processes of the namespace that have ended and that nobody has waited for."""
    found = []
    for process in psutil.Process(running.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            found += [process] if process.status() == psutil.STATUS_ZOMBIE else []
    return found


async def test_orphans_are_reaped_and_exit_codes_reach_who_waits_for_them(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """A command that ends by itself may leave a process behind; when that ends, nobody but PID 1 can wait for it."""
    orphan = "setsid sh -c 'touch begun-{job}; sleep 0.3; echo done >> ended' & until [ -e begun-{job} ]; do sleep 0.01; done"
    async with first_process(server, tmp_path, name) as running:
        codes = await start(client, request(handler="python", params={"handler": "exit-codes"}, job=name), name)
        for number in range(5):
            made = request(params=shell(orphan), job=f"{name}-{number}")
            await (await start(client, made, name)).result()
        await until(lambda: (tmp_path / "ended").read_text().count("done") == 5)
        assert (await codes.result()).steps[0].output == list(range(40))
        await until(lambda: not zombies(running))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_a_signal_to_the_first_process_drains_the_worker(
    number: signal.Signals, server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    step = shell("echo begun > begun; until [ -e go ]; do sleep 0.05; done")
    async with first_process(server, tmp_path, name) as running:
        await start(client, request(params=step, job=name), name)
        await until((tmp_path / "begun").exists)
        [first] = psutil.Process(running.pid).children()
        first.send_signal(number)
        await running.until_log("worker_draining")
        (tmp_path / "go").touch()
        await running.until_log("step_finished", outcome="succeeded")
        assert await running.wait() == 0


async def test_the_exit_code_of_a_worker_that_a_second_signal_ends_is_the_container_s(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with first_process(server, tmp_path, name) as running:
        await start(client, request(params=shell("echo begun > begun; sleep 60"), job=name), name)
        await until((tmp_path / "begun").exists)
        [first] = psutil.Process(running.pid).children()
        first.send_signal(signal.SIGTERM)
        await running.until_log("worker_draining")
        await asyncio.sleep(0.2)
        first.send_signal(signal.SIGTERM)
        assert await running.wait() == 128 + signal.SIGTERM
