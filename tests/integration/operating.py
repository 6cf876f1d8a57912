"""Jobs for tests of the operating commands: daily ones, so that nothing starts by itself, and what their runs leave in a file."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.integration.scenes import Scene, now, shell
from tests.processes import Finished, run_command

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from tests.servers import DevServer

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
HOURLY = {"schedule": {"every": "1h"}, "timezone": "UTC"}


async def command(server: DevServer, *words: str, timeout: float = 60.0) -> Finished:
    return await run_command("schedules", *words, env=server.environ, timeout=timeout)


async def done(server: DevServer, *words: str, code: int = 0, timeout: float = 60.0) -> Any:
    """The document of a command that ends with that code."""
    finished = await command(server, *words, "--output", "json", timeout=timeout)
    assert finished.code == code, (finished.code, finished.stdout, finished.stderr)
    return json.loads(finished.stdout)


async def until_waiting(scene: Scene, job: str, count: int) -> None:
    """Until so many starts wait for a run to end."""
    async with asyncio.timeout(30):
        while (await scene.gateway.describe(job)).activity.waiting < count:  # type: ignore[union-attr]  # noqa: ASYNC110  it is there
            await asyncio.sleep(0.1)


@cache
def last_hour() -> datetime:
    """The last full hour when a test first asks for it: the same to its end, also where another hour begins meanwhile."""
    return now().replace(minute=0, second=0, microsecond=0)


def hours_ago(count: int) -> datetime:
    """The time of a job of every full hour, so many before the test's last one."""
    return last_hour() - count * HOUR


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


class Diary:
    """A file in which each attempt of a job's step writes: its scheduled time and its idempotency key."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def writing(self, more: str = "true") -> dict[str, Any]:
        """What such a job runs; `more` is shell that comes before it writes."""
        line = f'echo "{{scheduled_at:%Y-%m-%dT%H:%M:%SZ}} $TICKWRIGHT_IDEMPOTENCY_KEY" >> {self._file}'
        return shell(f"{more} && {line}".replace("{{", "{").replace("}}", "}"))

    @property
    def lines(self) -> list[list[str]]:
        return [line.split() for line in self._file.read_text().splitlines()] if self._file.exists() else []

    @property
    def times(self) -> list[str]:
        return [time for time, _ in self.lines]

    @property
    def keys(self) -> list[str]:
        return [key for _, key in self.lines]


async def hourly(scene: Scene, short: str, **fields: Any) -> str:
    """A job of every hour; its name."""
    await scene.add(short, **{**HOURLY, **fields})
    return scene.id(short)
