"""A small HTTP service for the examples to talk to: it fails now and then, and counts effects apart from requests."""

from __future__ import annotations

import sqlite3
import time
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HOST = "127.0.0.1"
FAILS_EVERY = 3
TABLE = "CREATE TABLE IF NOT EXISTS requests (key TEXT NOT NULL, path TEXT NOT NULL, at INTEGER NOT NULL, failed INTEGER NOT NULL)"


class DemoService:
    """Answers the first request of each third new `Idempotency-Key` with 503; its database keeps every request."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._database.execute(TABLE)
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        """One request: an effect for a key that had none yet, or 503 where a third new key is seen first."""
        key = request.headers.get("Idempotency-Key")
        if not key:
            return web.json_response({"error": "the header Idempotency-Key is required"}, status=400)
        known = self._count("SELECT count(*) FROM requests WHERE key = ?", key)
        failed = not known and self._count("SELECT count(DISTINCT key) FROM requests") % FAILS_EVERY == FAILS_EVERY - 1
        repeated = self._count("SELECT count(*) FROM requests WHERE key = ? AND NOT failed", key) > 0
        row = (key, request.path, int(time.time()), failed)
        self._database.execute("INSERT INTO requests VALUES (?, ?, ?, ?)", row)
        self._database.commit()
        if failed:
            return web.json_response({"error": "busy, come again"}, status=503, headers={"Retry-After": "1"})
        return web.json_response({"done": request.path.strip("/"), "repeated": repeated})

    def summary(self) -> str:
        """What was asked for and what was done: a repeated key has no second effect."""
        requests = self._count("SELECT count(*) FROM requests")
        failed = self._count("SELECT count(*) FROM requests WHERE failed")
        effects = self._count("SELECT count(DISTINCT key) FROM requests WHERE NOT failed")
        return (
            f"demo service: {requests} requests, {failed} answered 503, {effects} effects (distinct Idempotency-Keys)"
        )

    def _count(self, query: str, *values: str) -> int:
        return int(self._database.execute(query, values).fetchone()[0])


@asynccontextmanager
async def demo_service(database: Path) -> AsyncIterator[DemoService]:
    """Serves every POST on a free port of the loopback address."""
    with closing(sqlite3.connect(database)) as connection:
        service = DemoService(connection)
        application = web.Application()
        application.router.add_post("/{path:.*}", service.take)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, 0).start()
            service.url = f"http://{HOST}:{runner.addresses[0][1]}"
            yield service
        finally:
            await runner.cleanup()
