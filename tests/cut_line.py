"""A line to PostgreSQL that breaks, or stands still, after a given byte."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SOCKET = ".s.PGSQL.5432"
Direction = Literal["there", "back"]


@dataclass
class CutLine:
    """Passes on what comes through a socket in `folder`: of the next connection, `limit` bytes in `direction`."""

    folder: Path
    server: Path
    direction: Direction = "there"
    limit: float = float("inf")
    stall: bool = False
    passed: dict[Direction, int] = field(default_factory=lambda: {"there": 0, "back": 0})
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def at(self, direction: Direction, limit: float, *, stall: bool) -> None:
        """What becomes of connections from now on: they break at that byte, or stand still until `released`."""
        self.direction, self.limit, self.stall = direction, limit, stall
        self.passed = {"there": 0, "back": 0}
        self.stopped, self.released = asyncio.Event(), asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        from_server, to_server = await asyncio.open_unix_connection(self.server / SOCKET)
        ways = [
            asyncio.create_task(self._pass("there", reader, to_server)),
            asyncio.create_task(self._pass("back", from_server, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for each in (writer, to_server):
                each.transport.abort()

    async def _pass(self, direction: Direction, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(1 << 16):
                room = self.limit - self.passed[direction] if direction == self.direction else len(data)
                part = data[: int(min(room, len(data)))]
                self.passed[direction] += len(part)
                target.write(part)
                await target.drain()
                if len(part) < len(data):
                    self.stopped.set()
                    if not self.stall:
                        return
                    await self.released.wait()
                    target.write(data[len(part) :])
                    self.limit = float("inf")


@asynccontextmanager
async def cut_line(folder: Path, server: Path) -> AsyncIterator[CutLine]:
    """A line from a new socket in `folder` to the server whose socket is in `server`."""
    line = CutLine(folder, server)
    listening = await asyncio.start_unix_server(line.serve, folder / SOCKET)
    try:
        yield line
    finally:
        listening.close()
