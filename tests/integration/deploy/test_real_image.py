"""The Dockerfile, built on a bare Debian and run by Podman as `docker-compose.yml` runs it: another user, nothing to write to but /tmp.

One test, since processes that run tests in parallel would each build the image. Where Podman or a base image cannot be had, it
says so and is skipped.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import aiohttp
import psutil
import pytest
from temporalio.client import Client, ScheduleHandle

from activities.contract import JobResult
from tests.processes import ROOT
from tests.servers import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import DevServer

BASE, IMAGE, MINE = "localhost/tickwright-base", "localhost/tickwright-test", "localhost/tickwright-mine"
NEEDED = ("podman", "runc", "debootstrap")
DEBIAN = ("bookworm", "http://deb.debian.org/debian")
OFFLINE = ("Could not find a version", "Temporary failure in name resolution", "ReadTimeoutError")
"""What pip says where it does not reach its index."""
SETTINGS = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
netns = "host"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
HARDENED = ("--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--security-opt=no-new-privileges")
JOBS = """\
version: 1
project: {name}
defaults: {{timezone: UTC, timeout: 30s, task_queue: {name}}}
jobs:
  {name}-shell: {{schedule: "@yearly", run: {{command: [sh, -c, "(setsid sleep 0.3 &); id -u"]}}}}
  {name}-greet: {{schedule: "@yearly", run: {{python: {{handler: greet}}}}}}
  {name}-slow: {{schedule: "@yearly", run: {{command: [sleep, "3"]}}}}
"""
GREET = """\
from tickwright import handler


@handler("greet")
def greet() -> dict[str, str]:
    return {"greeting": "hello"}
"""


class Podman:
    """Podman with a store of its own in a folder."""

    def __init__(self, folder: Path) -> None:
        self._options = ("--root", folder / "store", "--runroot", folder / "run")
        (folder / "containers.conf").write_text(SETTINGS, encoding="utf-8")
        self._environ = {**os.environ, "CONTAINERS_CONF": str(folder / "containers.conf")}

    def __call__(self, *words: str | Path, check: bool = True, **more: Any) -> subprocess.CompletedProcess[str]:
        """One command, to its end."""
        command = [str(word) for word in ("podman", *self._options, *words)]
        done = subprocess.run(command, env=self._environ, check=False, capture_output=True, text=True, **more)
        assert done.returncode == 0 or not check, done.stdout[-2000:] + done.stderr[-2000:]
        return done


@contextmanager
def podman_with_image(folder: Path) -> Iterator[Podman]:
    """Podman with the image of the Dockerfile, and with one made from it that has the module `greet`."""
    if os.geteuid() or [each for each in NEEDED if shutil.which(each) is None]:
        pytest.skip(f"the image is built by root with {', '.join(NEEDED)}")
    root, podman = folder / "root", Podman(folder)
    packages = "--include=python3,python3-venv,ca-certificates"
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", packages, DEBIAN[0], root, DEBIAN[1]],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"debootstrap makes no base image here: {made.stdout.strip().splitlines()[-1:]}")
    (root / "usr/bin/python").symlink_to("python3")
    try:
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
            podman("import", "-", BASE, stdin=tar.stdout)
        built = podman("build", *_reach(), f"--build-arg=BASE={BASE}", f"--tag={IMAGE}", ROOT, check=False)
        if any(word in built.stdout + built.stderr for word in OFFLINE):
            pytest.skip("a build reaches no package index here")
        assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
        mine = folder / "mine"
        mine.mkdir()
        (mine / "greetings.py").write_text(GREET, encoding="utf-8")
        (mine / "Dockerfile").write_text(f"FROM {IMAGE}\nCOPY greetings.py /app/\n", encoding="utf-8")
        podman("build", "--format=docker", f"--tag={MINE}", mine)
        yield podman
    finally:
        podman("rm", "--all", "--force", "--time=0", check=False)
        podman("rmi", "--all", "--force", check=False)


def _reach() -> Iterator[str]:
    """Options for a build that reaches the package index as this machine does."""
    yield from ("--format=docker", "--network=host", "--isolation=chroot")
    yield from (f"--volume={path}:{path}:ro" for path in ("/etc/ssl/certs", "/etc/pip.conf") if Path(path).exists())


async def ended(handle: ScheduleHandle, client: Client) -> JobResult:
    """The result of a run that a trigger starts."""
    async with asyncio.timeout(60):
        await handle.trigger()
        while not (runs := (await handle.describe()).info.recent_actions):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.1)
        started: Any = runs[-1].action
        run = client.get_workflow_handle(started.workflow_id, result_type=JobResult)
        result: JobResult = await run.result()
    return result


async def answer(port: int, path: str) -> int:
    """The status at which the worker's page answers, 0 for none."""
    try:
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as response:
            return response.status
    except aiohttp.ClientError:
        return 0


async def test_the_image_syncs_runs_jobs_drains_and_leaves_no_zombie(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    specs, port = tmp_path / "specs", free_port()
    specs.mkdir()
    (specs / "jobs.yaml").write_text(JOBS.format(name=name), encoding="utf-8")
    reached = (f"--env=TEMPORAL_ADDRESS={server.address}", f"--volume={specs}:/specs:ro")
    settings = {
        "TASK_QUEUE": name, "MODULES": "greetings", "ALLOW_COMMANDS": "true", "HTTP_ADDRESS": f"127.0.0.1:{port}",
    }  # fmt: skip
    # Podman takes no longer path than 50 characters for what it keeps while it runs.
    with TemporaryDirectory(prefix="podman-") as folder, podman_with_image(Path(folder)) as podman:

        def tickwright(*words: str) -> str:
            done = podman("run", "--rm", *HARDENED, *reached, IMAGE, "tickwright", *words)
            return done.stdout + done.stderr

        assert tickwright("--version").startswith("tickwright ")
        tickwright("lint", "/specs")

        async def start_worker(worker: str) -> None:
            environ = [f"--env=TICKWRIGHT_{setting}={value}" for setting, value in settings.items()]
            podman("run", "--detach", f"--name={worker}", *HARDENED, *reached, *environ, MINE)
            async with asyncio.timeout(60):
                while await answer(port, "/readyz") != HTTPStatus.OK:  # noqa: ASYNC110 - the worker tells nobody
                    await asyncio.sleep(0.2)

        await start_worker("worker")
        assert "3 applied, 0 failed" in tickwright("sync", "/specs"), podman("logs", "worker").stderr
        assert await answer(port, "/livez") == HTTPStatus.OK
        podman("healthcheck", "run", "worker")

        shell = await ended(client.get_schedule_handle(f"{name}-shell"), client)
        greet = await ended(client.get_schedule_handle(f"{name}-greet"), client)
        assert (shell.steps[0].output["stdout"], greet.steps[0].output) == ("10001\n", {"greeting": "hello"})
        await asyncio.sleep(0.5)  # what the shell left behind has ended
        first = psutil.Process(int(podman("inspect", "--format={{.State.Pid}}", "worker").stdout))
        assert [each.name() for each in first.children(recursive=True) if each.status() == psutil.STATUS_ZOMBIE] == []

        slow = asyncio.ensure_future(ended(client.get_schedule_handle(f"{name}-slow"), client))
        await asyncio.sleep(1)
        await asyncio.to_thread(podman, "stop", "--time=60", "worker")
        await start_worker("next")
        result = await slow
        assert (result.outcome, result.attempts) == ("succeeded", 1)  # the step ended in the worker that drained
        assert json.loads(podman("inspect", "worker").stdout)[0]["State"]["ExitCode"] == 0
