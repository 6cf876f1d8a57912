"""A service that notifications and pings are sent to: it remembers each request, and answers as it is told."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.servers import HOST, free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def key(self) -> str:
        return self.headers["Idempotency-Key"]


@dataclass
class Receiver:
    """`status` is its answer; `arrived` is set while it holds a request back for `delay` seconds."""

    port: int
    status: int = 200
    delay: float = 0.0
    requests: list[Received] = field(default_factory=list)
    taken: list[Received] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def events(self, path: str = "/hook") -> list[str]:
        """What it has taken on that path, in the order in which it came."""
        return [each.document["event"] for each in self.taken if each.path == path]

    async def until(self, holds: Callable[[Receiver], object], what: str, timeout: float = 60.0) -> None:
        """Waits; fails with what has come so far."""
        try:
            async with asyncio.timeout(timeout):
                while not holds(self):  # noqa: ASYNC110 - other processes set no event
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{what}: {[(each.path, each.body[:300]) for each in self.requests]}") from None

    async def answer(self, request: web.Request) -> web.Response:
        told = Received(request.path, dict(request.query), dict(request.headers), await request.text())
        self.requests.append(told)
        status = self.status
        await asyncio.sleep(self.delay)
        if status < 300:
            self.taken.append(told)
        return web.Response(status=status)


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    """The service on a free port while the block lasts."""
    made = Receiver(free_port())
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, made.port).start()
        yield made
    finally:
        await runner.cleanup()
