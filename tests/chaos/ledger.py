"""A service that counts effects: it fails now and then before an effect, and loses answers after one."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from random import Random
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HOST = "127.0.0.1"


class Ledger:
    """Books each Idempotency-Key once; `requests` counts what came, `effects` what was booked, by key."""

    def __init__(self, random: Random) -> None:
        self.requests: Counter[str] = Counter()
        self.effects: Counter[str] = Counter()
        self.url = ""
        self._random = random

    async def book(self, request: web.Request) -> web.Response:
        key = request.headers["Idempotency-Key"]
        self.requests[key] += 1
        if self._random.random() < 0.1:
            return web.Response(status=503)
        await asyncio.sleep(self._random.uniform(0, 0.5))
        if not self.effects[key]:
            self.effects[key] += 1
        if self._random.random() < 0.05 and request.transport:
            request.transport.close()  # Booked, and the answer is lost.
        return web.json_response({"booked": key})


@asynccontextmanager
async def ledger(random: Random) -> AsyncIterator[Ledger]:
    """Serves POST /book on a free port."""
    service = Ledger(random)
    application = web.Application()
    application.router.add_post("/book", service.book)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0).start()
        service.url = f"http://{HOST}:{runner.addresses[0][1]}"
        yield service
    finally:
        await runner.cleanup()
