"""Waiting for things and looking at processes, for tests that start real ones."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


async def until(condition: Callable[[], object]) -> None:
    """Wait until `condition` holds; the test's own timeout bounds it."""
    while not condition():  # noqa: ASYNC110  other processes set no event
        await asyncio.sleep(0.005)


def is_running(pid: int) -> bool:
    """Whether there is such a process, zombies aside."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def pids_in(file: Path, count: int) -> list[int]:
    """The process ids that a script writes there line by line, once all are."""

    def written() -> list[str]:
        return file.read_text().splitlines(keepends=True) if file.exists() else []

    await until(lambda: len(written()) == count and all(line.endswith("\n") for line in written()))
    return [int(line) for line in written()]
