"""The fixture in a project outside of this folder, with the package installed from its wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.processes import ROOT, marked, run_command, started, until_none_left

if TYPE_CHECKING:
    from pathlib import Path

JOBS = """\
version: 1
project: billing
jobs:
  report:
    schedule: "30 2 * * *"
    timezone: America/New_York
    timeout: 5m
    retry: {max_attempts: 3}
    run: {python: {handler: count, params: {up_to: 3}}}
"""
MODULE = """\
from tickwright import JobContext, handler
from pydantic import BaseModel

class Limit(BaseModel):
    up_to: int

@handler("count")
def count(params: Limit, context: JobContext) -> list[str]:
    return [f"{context.scheduled_at:%F} {number}" for number in range(params.up_to)]
"""
TEST = """\
import pytest
from tickwright import Fault, TestKit

{mark}
async def test_mid_march(tickwright: TestKit) -> None:
    march = await tickwright.run(
        "jobs.yaml", start="2027-03-12", end="2027-03-16", modules=["my_jobs"],
        faults=[Fault("2027-03-14", attempts={attempts}, error="the ledger is closed")],
    )
    assert march.outcomes == {{"succeeded": 4}}
    assert march["2027-03-14T03:00"].attempts == 3
    assert march["2027-03-12"].output == ["2027-03-12 0", "2027-03-12 1", "2027-03-12 2"]
"""
SETTINGS = "[pytest]\nasyncio_mode = {mode}\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a wheel of this package installs, for PYTHONPATH."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's project, without tests as yet."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    (tmp_path / "my_jobs.py").write_text(MODULE)
    return tmp_path


def environ(installed: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(installed), "PYTEST_ADDOPTS": "-p no:cacheprovider"}


@pytest.mark.parametrize(("mode", "mark"), [("auto", ""), ("strict", ""), ("strict", "@pytest.mark.asyncio")])
async def test_it_works_in_both_modes_of_pytest_asyncio(mode: str, mark: str, project: Path, installed: Path) -> None:
    (project / "pytest.ini").write_text(SETTINGS.format(mode=mode))
    (project / "test_jobs.py").write_text(TEST.format(mark=mark, attempts=(1, 2)))

    done = await run_command("pytest", env=environ(installed), cwd=project, timeout=180)

    assert done.code == 0, done.stdout
    assert "1 passed" in done.stdout


async def test_it_works_without_pytest_asyncio_and_on_two_cores(project: Path, installed: Path) -> None:
    test = (
        "import asyncio\nimport pytest\n@pytest.mark.parametrize('day', range(1, 5))\ndef test_day(tickwright, day):\n"
    )
    test += "    [one] = asyncio.run(tickwright.run('jobs.yaml', start=f'2027-03-0{day}', modules=['my_jobs']))\n"
    test += "    assert one.outcome == 'succeeded'\n"
    (project / "test_jobs.py").write_text(test)

    done = await run_command(
        "pytest", "-n", "2", "-p", "no:asyncio", "-W", "error", env=environ(installed), cwd=project, timeout=180
    )

    assert done.code == 0, done.stdout
    assert "4 passed" in done.stdout


async def test_a_failing_test_shows_the_reason_of_the_run_that_failed(project: Path, installed: Path) -> None:
    (project / "pytest.ini").write_text(SETTINGS.format(mode="auto"))
    (project / "test_jobs.py").write_text(TEST.format(mark="", attempts=(1, 2, 3)))

    done = await run_command("pytest", env=environ(installed), cwd=project, timeout=180)

    assert done.code == 1
    assert "E       AssertionError: assert {'succeeded': 3, 'failed': 1} == {'succeeded': 4}" in done.stdout
    assert "2027-03-14 03:00 EDT failed after 3 attempts: step run: the ledger is closed" in done.stdout


async def test_a_project_that_does_not_ask_for_it_loads_no_temporal(project: Path, installed: Path) -> None:
    heavy = "['temporalio', 'pydantic', 'aiohttp', 'worker.testkit']"
    test = f"import sys\ndef test_light():\n    assert 'tickwright.pytest_plugin' in sys.modules\n    assert not [name for name in {heavy} if name in sys.modules]\n"
    (project / "test_light.py").write_text(test)

    others = ("-p", "no:asyncio", "-p", "no:kmock")
    done = await run_command("pytest", *others, "-W", "error", env=environ(installed), cwd=project, timeout=180)

    assert done.code == 0, done.stdout


async def test_the_server_ends_with_a_pytest_that_is_killed(project: Path, installed: Path) -> None:
    test = "import asyncio, pathlib\nasync def hang(call):\n    pathlib.Path('hangs').touch()\n    await asyncio.sleep(600)\n"
    test += (
        "def test_hang(tickwright):\n    asyncio.run(tickwright.run('jobs.yaml', start='2027-03-01', python=hang))\n"
    )
    (project / "test_hang.py").write_text(test)

    async with started("pytest", env=environ(installed), cwd=project) as running:
        await running.until((project / "hangs").exists, "no attempt", timeout=120)
        assert any(process.name().startswith("temporal-test") for process in marked(running.mark))
        running.process.kill()
        await running.process.wait()
        await until_none_left(running.mark)
