"""The tutorial, carried out: each command is run beside a real `make run`, and prints what the page shows."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import readme
from tests.processes import environment, started

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE = 60.0
REST = "…"
QUERY = re.compile(r"tickwright (runs|logs|explain) ")
OCCURRENCE = r"tidy-exports-\d{4}-\d\d-\d\dT[\d:]{8}Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a clone has, as far as the tutorial needs it."""
    for name in ("activities", "examples", "schedules", "tickwright", "worker", "workflows"):
        (tmp_path / name).symlink_to(readme.ROOT / name)
    (tmp_path / ".venv-run" / "bin").mkdir(parents=True)
    (tmp_path / ".venv-run" / "bin" / "activate").touch()
    return tmp_path


def fits(shown: list[str], printed: list[str]) -> bool:
    """Whether the output is the one shown: `…` stands for any lines or any text; blanks, times and seconds may differ."""
    pattern = "".join(r"(.*\n)*?" if line == REST else pattern_of(line) + r" ?\n" for line in shown)
    return re.fullmatch(pattern, "".join(re.sub(r" +", " ", line) + "\n" for line in printed)) is not None


def pattern_of(line: str) -> str:
    """The line as a regular expression."""
    pattern = re.escape(re.sub(r" +", " ", line)).replace(REST, ".*")
    pattern = re.sub(r"\w{3}\\ \d{4}\\-\d\d\\-\d\d\\ [\d:]{8}\\ \\\+\d\d:\d\d", r"\\w{3} \\S+ \\S+ \\S+", pattern)
    pattern = re.sub(r"\d{4}\\-\d\d\\-\d\dT\d\d:\d\d:\d\dZ", r"\\S+", pattern)
    return re.sub(r"\d+\\\.\d+s", r"\\S+", pattern)


async def outcome(line: str, folder: Path, env: Mapping[str, str], last_code: int) -> tuple[int, list[str]]:
    """Exit code and output of a line in a shell in which `$?` is the code of the line before."""
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-c", f"(exit {last_code}); {line}"),
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await asyncio.wait_for(shell.communicate(), PATIENCE)
    return shell.returncode or 0, printed.decode().splitlines()


async def follow(tour: list[readme.Block], folder: Path, env: Mapping[str, str]) -> None:
    """Writes the files and runs the commands, in order. A query is asked until it answers as shown."""
    code, triggered = 0, ""
    for block in tour:
        if block.language == "yaml":
            (folder / block.text.partition("\n")[0].removeprefix("# ")).write_text(block.text)
            continue
        for command in readme.commands(block):
            if command.line.startswith("make "):
                continue
            line = re.sub(OCCURRENCE, triggered, command.line)
            until = time.monotonic() + PATIENCE
            ran, printed = await outcome(line, folder, env, code)
            while QUERY.match(line) and not fits(command.output, printed) and time.monotonic() < until:
                ran, printed = await outcome(line, folder, env, code)
            assert fits(command.output, printed), f"$ {line}\n" + "\n".join(printed)
            code = ran
            triggered = next(iter(re.findall(OCCURRENCE, "\n".join(printed))), triggered)


async def test_the_tutorial_goes_as_it_is_written(folder: Path) -> None:
    tour = readme.blocks(readme.section("Tutorial"), "yaml", "console")
    assert len(tour) > 8

    async with started("worker.dev", cwd=folder) as dev:
        line = await dev.until(
            lambda: next((x for x in dev.out if x.startswith("Temporal: ")), ""), "the server's address"
        )
        await dev.until(lambda: any("6 applied" in x for x in dev.out), "the examples are applied")
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        env = {**environment({"TEMPORAL_ADDRESS": line.split()[1], "PATH": path}, dev.mark), "PYTHONPATH": str(folder)}
        await follow(tour, folder, env)
