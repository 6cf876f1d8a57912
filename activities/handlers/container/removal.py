"""Containers that are removed later: what has succeeded, once Temporal has the result, and what nobody watches any more."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import aiohttp

from activities.handlers.container.engine import Engine, EngineError


class Removals:
    """Removes containers of one engine after a while, and at once those that an earlier worker left to be removed."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._tasks: set[asyncio.Task[None]] = set()

    def later(self, container: str, seconds: float) -> None:
        """Remove the container then, whether it still runs or not."""
        task = asyncio.get_running_loop().create_task(self._remove(container, seconds))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _remove(self, container: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        engine = Engine(self._socket)
        try:
            with suppress(EngineError, aiohttp.ClientError, OSError):  # The sweep of a later step tries again.
                await engine.remove(container)
                await sweep(engine)
        finally:
            await engine.close()


async def sweep(engine: Engine) -> None:
    """Remove what has succeeded under a worker that is gone, and what has outlived the time of its step."""
    for container in await engine.overdue():
        await engine.remove(container)
