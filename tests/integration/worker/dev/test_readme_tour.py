"""The README's tour, carried out: each command is run beside a real `make run`, and says what the README shows."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import readme
from tests.processes import environment, started

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE = 60.0
REST = "…"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a clone has, as far as the tour needs it."""
    for name in ("activities", "examples", "schedules", "worker", "workflows"):
        (tmp_path / name).symlink_to(readme.ROOT / name)
    (tmp_path / ".venv-run" / "bin").mkdir(parents=True)
    (tmp_path / ".venv-run" / "bin" / "activate").touch()
    return tmp_path


def fits(shown: list[str], printed: list[str]) -> bool:
    """Whether the output is the one shown; a line with an ellipsis stands for any lines, and times differ from run to run."""
    pattern = "".join(r"(.*\n)*?" if line == REST else re.escape(line) + r" *\n" for line in shown)
    pattern = re.sub(r"\d{4}\\-\d\d\\-\d\dT\d\d:\d\d:\d\dZ", r"\\S+", pattern)
    pattern = re.sub(r"\d+\\ seconds\\ ago", r"\\d+ seconds? ago", pattern)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


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
    """Writes the files and runs the commands, in order. A query of what runs is asked until it answers as shown."""
    code = 0
    for block in tour:
        if block.language == "yaml":
            (folder / block.text.partition("\n")[0].removeprefix("# ")).write_text(block.text)
            continue
        for command in readme.commands(block):
            async with asyncio.timeout(PATIENCE):
                ran, printed = await outcome(command.line, folder, env, code)
                while command.line.startswith("temporal workflow list") and not fits(command.output, printed):
                    ran, printed = await outcome(command.line, folder, env, code)
            assert fits(command.output, printed), f"$ {command.line}\n" + "\n".join(printed)
            code = ran


async def test_the_tour_goes_as_it_is_told(folder: Path) -> None:
    tour = readme.blocks(readme.section("A tour in five minutes"), "yaml", "console")
    assert len(tour) > 8

    async with started("worker.dev", cwd=folder) as dev:
        line = await dev.until(
            lambda: next((x for x in dev.out if x.startswith("Temporal: ")), ""), "the server's address"
        )
        await dev.until(lambda: any("6 applied" in x for x in dev.out), "the examples are applied")
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        env = {**environment({"TEMPORAL_ADDRESS": line.split()[1], "PATH": path}, dev.mark), "PYTHONPATH": str(folder)}
        await follow(tour, folder, env)
