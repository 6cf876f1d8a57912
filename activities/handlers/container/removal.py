"""Containers that are removed later: what has succeeded, once Temporal has the result, and what nobody watches any more."""

from __future__ import annotations

from contextlib import suppress

import aiohttp

from activities.handlers.container.engine import Engine, EngineError
from activities.handlers.lasting import Afterwards


class Removals:
    """Removes containers of one engine after a while, and at once those that an earlier worker left to be removed."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._afterwards = Afterwards()

    def later(self, container: str, seconds: float) -> None:
        """Remove the container then, whether it still runs or not."""
        self._afterwards.later(self._remove(container), seconds)

    async def _remove(self, container: str) -> None:
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
