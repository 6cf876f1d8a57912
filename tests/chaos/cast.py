"""The processes that are killed, and started again: a server with its database, and workers."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Self

from tests.processes import RunningWorker, starting_worker
from tests.servers import DevServer, dev_server, free_port

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random


class Cast:
    """One server and several workers; `killed` counts who was."""

    def __init__(self, folder: Path, workers: int, **settings: str) -> None:
        self._folder, self._settings = folder, settings
        self._port = free_port()
        self._server = ExitStack()
        self._workers = [AsyncExitStack() for _ in range(workers)]
        self._running: dict[int, RunningWorker] = {}
        self.killed: Counter[str] = Counter()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        await self.start_server()
        for number in range(len(self._workers)):
            await self.start_worker(number)
        for running in self._running.values():
            await running.until_ready()
        return self

    async def __aexit__(self, *_: object) -> None:
        for stack in self._workers:
            await stack.aclose()
        self._server.close()

    async def start_server(self) -> None:
        database = self._folder / "temporal.db"
        self._dev: DevServer = await asyncio.to_thread(
            self._server.enter_context, dev_server(port=self._port, database=database)
        )

    async def start_worker(self, number: int) -> None:
        stack = self._workers[number]
        self._running[number] = await stack.enter_async_context(
            starting_worker(self.address, cwd=self._folder, **self._settings)
        )

    async def kill_worker(self, number: int) -> None:
        """The worker alone, not what it started: its guard has to see to that."""
        self.killed["worker"] += 1
        self._running[number].signal(signal.SIGKILL)
        await self._running[number].wait()

    async def kill_server(self) -> None:
        self.killed["server"] += 1
        await asyncio.to_thread(self._dev.kill)
        self._server.close()
        self._server = ExitStack()

    async def strike(self, random: Random) -> None:
        """Kills one worker, the server, or both, and brings them back after a while."""
        whom = random.choice(["worker", "worker", "server", "both"])
        number = random.randrange(len(self._workers))
        if whom != "server":
            await self.kill_worker(number)
        if whom != "worker":
            await self.kill_server()
        await asyncio.sleep(random.uniform(0, 4))
        if whom != "worker":
            await self.start_server()
        if whom != "server":
            await self._workers[number].aclose()
            self._workers[number] = AsyncExitStack()
            await self.start_worker(number)
