"""What a step can learn of the worker's secrets that it was not given, and what of it comes into the history."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.processes import RunningWorker, worker
from tests.runs import request, shell, start
from tests.servers import DevServer

ENVIRON = "/proc/$(cut -d' ' -f4 /proc/$PPID/stat)/environ"
"""Of the worker: the parent of the guard, which is the shell's."""
OF_ENVIRONMENT, OF_FILE, TOKEN = "hunter22-environment", "hunter22-of-the-file", "hunter22-of-metrics"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


def with_secrets(server: DevServer, name: str, folder: Path) -> dict[str, str]:
    """Settings of a worker."""
    (folder / "secrets").mkdir()
    (folder / "secrets" / "FILE").write_text(f"{OF_FILE}\n")
    return {
        "task_queue": name,
        "allow_commands": "true",
        "secret_env": OF_ENVIRONMENT,
        "secrets_dir": str(folder / "secrets"),
        "http_token": TOKEN,
    }


async def told(client: Client, name: str, running: RunningWorker, line: str) -> str:
    """Everything that history and log say of a run of this line of shell; it gets an end and a number of lines for sure."""
    run = await start(client, request(params=shell(f"{line}; echo searched"), job=name), name)
    output = (await run.result()).steps[0].output
    assert "searched" in output["stdout"]
    history = (await run.fetch_history()).to_json()
    return "\n".join([str(output), history, *running.err])


async def test_no_secret_of_the_worker_comes_into_the_history_by_a_step_that_was_not_given_it(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, **with_secrets(server, name, tmp_path)) as running:
        line = f"cat secrets/FILE; tr '\\0' '\\n' < {ENVIRON} | grep hunter22"
        all_told = await told(client, name, running, line)
    assert "***" in all_told
    for secret in (OF_ENVIRONMENT, OF_FILE, TOKEN):
        assert secret not in all_told


@on_linux
@pytest.mark.skipif(os.getuid() == 0, reason="root may read every process")
async def test_a_command_cannot_read_the_environment_of_its_worker(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, **with_secrets(server, name, tmp_path)) as running:
        assert "Permission denied" in await told(client, name, running, f"cat {ENVIRON} 2>&1")


@on_linux
@pytest.mark.parametrize(("allowed", "dumpable"), [("true", 0), ("false", 1)])
async def test_a_worker_that_runs_commands_closes_its_memory_to_them(
    allowed: str, dumpable: int, server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """PR_GET_DUMPABLE is 3."""
    (tmp_path / "look.py").write_text(
        "import ctypes\nfrom activities import handler\n@handler\ndef look() -> int:\n    return ctypes.CDLL(None).prctl(3)\n"
    )
    settings = {"task_queue": name, "modules": "look", "allow_commands": allowed}
    async with worker(server.address, cwd=tmp_path, **settings) as running:
        run = await start(client, request("python", {"handler": "look"}, job=name), name)
        assert (await run.result()).steps[0].output == dumpable
        assert "process_open_fds" in (await running.get("/metrics"))[1]
