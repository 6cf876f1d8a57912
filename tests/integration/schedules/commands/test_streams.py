"""Standard streams that are full, closed or a pipe without a reader; specs that come by standard input."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT, environment

SPEC = """\
version: 1
project: shop
x-usual: &usual {timezone: UTC, timeout: 5m}
jobs:
  a: {<<: *usual, schedule: "0 3 * * *", run: {command: ["true"]}}
"""
NEXT = "next --cron '0 3 * * *' --timezone UTC"
TICKWRIGHT = f"{sys.executable} -m schedules"
LOST = "cannot write to standard output: "


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.yaml"
    path.write_text(SPEC)
    return path


async def shell(line: str, **env: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a line of bash."""
    process = await asyncio.create_subprocess_exec(
        "bash",
        *("-o", "pipefail", "-c", line),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env=environment(env, "streams"),
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("into", "reason"),
    [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor"), ("| true", "Broken pipe")],
)
@pytest.mark.parametrize("words", [NEXT, f"{NEXT} --output json", "--help"])
async def test_an_answer_that_cannot_be_written_is_one_line_and_exit_code_1(
    words: str, into: str, reason: str, unbuffered: str
) -> None:
    answer = await shell(f"{TICKWRIGHT} {words} {into}", PYTHONUNBUFFERED=unbuffered)

    assert answer == (1, "", f"{LOST}{reason}\n")


async def test_an_error_is_told_though_its_document_cannot_be_written() -> None:
    code, _, err = await shell(f"{TICKWRIGHT} lint /nowhere --output json > /dev/full")

    assert (code, err) == (1, f"{LOST}No space left on device\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("into", ["2> /dev/full", "2>&1 > /dev/null | true"])
async def test_a_message_that_nobody_could_be_told_is_exit_code_1(spec: Path, into: str, unbuffered: str) -> None:
    assert await shell(f"{TICKWRIGHT} lint {spec} {into}", PYTHONUNBUFFERED=unbuffered) == (1, "", "")


@pytest.mark.parametrize("into", [">&-", "2>&-", "> /dev/full"])
async def test_a_stream_that_nothing_is_written_to_is_not_missed(spec: Path, into: str) -> None:
    assert (await shell(f"{TICKWRIGHT} lint {spec} {into}"))[0] == 0


@pytest.mark.parametrize("line", ["lint - < {spec}", "lint /dev/stdin < {spec}", "lint <(cat {spec})"])
async def test_specs_may_come_by_a_stream(spec: Path, line: str) -> None:
    answer = await shell(f"{TICKWRIGHT} {line.format(spec=spec)}")

    assert answer == (0, "", "shop/default: 1 job, no problem found\n")


async def test_a_fault_in_a_stream_has_its_place(spec: Path) -> None:
    code, _, err = await shell(f"sed s/0.3/0-99/ {spec} | {TICKWRIGHT} lint -")

    assert code == 2
    assert err.startswith("-:5:29: jobs.a.schedule: ")


@pytest.mark.parametrize("stdin", ["< /dev/null", "<&-"])
async def test_a_stream_without_a_spec_is_an_error(stdin: str) -> None:
    code, _, err = await shell(f"{TICKWRIGHT} lint - {stdin}")

    assert (code, err.partition(";")[0]) == (2, "-:1:1: holds no spec")
