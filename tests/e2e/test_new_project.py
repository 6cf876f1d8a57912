"""From an empty folder to a run, with the package as people install it: `init`, `lint`, the test, `dev`, a run, a worker."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from contextlib import ExitStack, asynccontextmanager
from random import randrange
from typing import TYPE_CHECKING, Any

import pytest

from tests.bare import bare_environment
from tests.processes import RunningWorker, started_process
from worker.dev.ports import claimed_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.processes import Running

NOT_OURS = "raise RuntimeError('a module of the project was loaded for one of Tickwright')\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a bare environment."""
    return bare_environment(tmp_path_factory.mktemp("bare"), "dev", "testing")


@pytest.fixture
def project(tmp_path: Path, programs: Path) -> Path:
    """A folder with what `init` writes, and with modules that many Temporal projects have."""
    folder = tmp_path / "Shop jobs"
    folder.mkdir()
    assert run(programs, folder, "init").returncode == 0
    for name in ("worker.py", "workflows.py", "schedules.py"):
        (folder / name).write_text(NOT_OURS)
    (folder / "activities").mkdir()
    (folder / "activities" / "__init__.py").write_text(NOT_OURS)
    return folder


def environ(programs: Path, **more: str) -> dict[str, str]:
    return {"PYTHONPATH": ".", "PATH": f"{programs}:/usr/bin:/bin", **more}


def run(programs: Path, folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [programs / "tickwright", *words]
    return subprocess.run(
        command, cwd=folder, env=environ(programs, **env), capture_output=True, text=True, check=False
    )


def free_ports() -> dict[str, int]:
    """Below those that the system gives to connections of the moment."""
    with ExitStack() as claims:
        return {
            option: claims.enter_context(claimed_port(randrange(first, first + 900)))
            for option, first in (("--port", 21000), ("--ui-port", 22000), ("--board-port", 23000))
        }


@asynccontextmanager
async def dev(programs: Path, folder: Path, *words: str) -> AsyncIterator[Running]:
    program: list[str | Path] = [programs / "tickwright", "dev", *words]
    env, python = environ(programs), programs / "python"
    async with started_process(*program, cwd=folder, env=env, python=python) as running:
        await running.until(lambda: any(" applied, " in line for line in running.out), "the jobs", timeout=90)
        yield running


def addresses(running: Running) -> list[str]:
    return [line for line in running.out if line.startswith(("Temporal:", "Web UI:", "Board:"))]


async def test_what_init_writes_is_linted_run_and_explained(programs: Path, project: Path) -> None:
    linted = run(programs, project, "lint", "--strict", "jobs")
    assert (linted.returncode, linted.stderr) == (0, "shop-jobs/default: 1 job, no problem found\n")

    ports = free_ports()
    async with dev(programs, project, *(str(word) for pair in ports.items() for word in pair)) as running:
        first = addresses(running)
        address = f"127.0.0.1:{ports['--port']}"
        env = {"TEMPORAL_ADDRESS": address}
        triggered = await asyncio.to_thread(run, programs, project, "trigger", "hello", "--wait", **env)
        assert triggered.returncode == 0, triggered.stderr

        explained = await asyncio.to_thread(run, programs, project, "runs", "hello", "--output", "json", **env)
        newest: dict[str, Any] = json.loads(explained.stdout)["occurrences"][-1]
        assert newest["outcome"] == "succeeded"
        explained = await asyncio.to_thread(run, programs, project, "explain", "hello", newest["scheduled_at"], **env)
        assert f"http://127.0.0.1:{ports['--ui-port']}/namespaces/default/workflows/" in explained.stdout

        worker = (programs / "tickwright", "worker")
        settings = environ(programs, **env, TICKWRIGHT_HTTP_ADDRESS="127.0.0.1:0")
        async with started_process(
            *worker, cwd=project, env=settings, python=programs / "python", kind=RunningWorker
        ) as beside:
            assert isinstance(beside, RunningWorker)
            await beside.until_ready()
        running.signal(signal.SIGINT)
        assert await running.wait() == 0
        assert running.err == []
    async with dev(programs, project) as again:
        assert addresses(again) == first


@pytest.mark.parametrize("settings", ["", "[pytest]\nasyncio_mode = auto\n", "[pytest]\naddopts = -p no:asyncio\n"])
def test_the_test_of_a_new_project_passes(settings: str, programs: Path, project: Path) -> None:
    (project / "pytest.ini").write_text(settings)
    words: list[str | Path] = [programs / "python", "-m", "pytest", "-p", "no:cacheprovider"]

    done = subprocess.run(words, cwd=project, env=environ(programs), capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_the_version_is_that_of_the_package(programs: Path, tmp_path: Path) -> None:
    shown = run(programs, tmp_path, "--version")

    assert shown.stdout.split()[0] == "tickwright"
    assert list(
        (programs.parent / "lib").glob(f"python3*/site-packages/tickwright-{shown.stdout.split()[1]}.dist-info")
    )


def test_names_of_ours_that_a_module_of_the_project_has_taken_are_told(programs: Path, project: Path) -> None:
    (project / "activities" / "__init__.py").write_text("")
    words: list[str | Path] = [programs / "python", "-c", "import activities; from tickwright import handler"]

    done = subprocess.run(words, cwd=project, env=environ(programs), capture_output=True, text=True, check=False)

    assert f"{project}/activities/__init__.py has the name of a part of Tickwright" in done.stderr
