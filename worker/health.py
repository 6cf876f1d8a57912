"""Health over HTTP: is this process alive, and should work be counted on from it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from temporalio.service import RPCError

from worker.serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from temporalio.client import Client

State = Literal["starting", "polling", "draining"]
REACH_TIMEOUT = timedelta(seconds=2)


@dataclass
class Health:
    """What the worker says of itself; set by its lifecycle, read by the probes."""

    metrics: CollectorRegistry
    state: State = "starting"
    client: Client | None = field(default=None, repr=False)
    burden: Callable[[], str] = lambda: ""
    """What of its own keeps the worker from working well; empty for nothing."""

    async def unready_reason(self) -> str:
        """Why no work should be counted on; empty where it should."""
        if self.state != "polling" or self.client is None:
            return self.state
        try:
            await self.client.service_client.check_health(timeout=REACH_TIMEOUT)
        except RPCError as error:
            return f"server unreachable: {error.status.name}"
        return self.burden()


@asynccontextmanager
async def serve_health(health: Health, address: tuple[str, int]) -> AsyncIterator[str]:
    """Serves /livez, /readyz and /metrics and gives the URL. Raises AddressInUseError."""

    async def livez(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        reason = await health.unready_reason()
        return web.Response(text=f"{reason or 'ok'}\n", status=503 if reason else 200)

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(health.metrics), headers={"Content-Type": CONTENT_TYPE_LATEST})

    application = web.Application()
    application.add_routes([web.get("/livez", livez), web.get("/readyz", readyz), web.get("/metrics", metrics)])
    async with serving(application, address, "TICKWRIGHT_HTTP_ADDRESS") as url:
        yield url
