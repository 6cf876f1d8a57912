"""Health over HTTP: is this process alive, has it begun, and should work be counted on from it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from prometheus_client import CollectorRegistry
from temporalio.service import RPCError

from schedules.pages import Page, metrics_page, serving_pages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from email.message import Message

    from temporalio.client import Client

    from schedules.access import Token

State = Literal["starting", "polling", "draining"]
REACH_TIMEOUT = timedelta(seconds=2)


@dataclass
class Health:
    """What the worker says of itself; set by its lifecycle, read by the probes."""

    metrics: CollectorRegistry
    state: State = "starting"
    client: Client | None = field(default=None, repr=False)
    burden: Callable[[], str] = lambda: ""
    """What only a restart mends; empty for nothing."""
    remarks: Callable[[], list[str]] = list
    """What is worth a word, yet no fault of this worker: it stays ready, lest a rollout or an autoscaler count it out."""

    async def unready_reason(self) -> str:
        """Why no work should be counted on; empty where it should."""
        if self.state != "polling" or self.client is None:
            return self.state
        if burden := self.burden():
            return burden
        try:
            await self.client.service_client.check_health(timeout=REACH_TIMEOUT)
        except RPCError as error:
            return f"server unreachable: {error.status.name}"
        return ""


@asynccontextmanager
async def serve_health(health: Health, address: tuple[str, int], token: Token | None = None) -> AsyncIterator[str]:
    """Serves /livez, /startupz, /readyz and /metrics and gives the URL. Raises AddressInUseError.

    The token is asked for at /metrics alone: a probe of Kubernetes can take no header from a Secret.
    """
    async with serving_pages(_pages(health, token), address, "TICKWRIGHT_HTTP_ADDRESS") as url:
        yield url


def _pages(health: Health, token: Token | None) -> dict[str, Callable[[Message], Awaitable[Page]]]:
    async def livez(_: Message) -> Page:
        return _verdict(health.burden())

    async def startupz(_: Message) -> Page:
        return _verdict("starting" if health.state == "starting" else "")

    async def readyz(_: Message) -> Page:
        return _verdict(await health.unready_reason(), health.remarks())

    async def metrics(headers: Message) -> Page:
        return metrics_page(health.metrics, token, headers)

    return {"/livez": livez, "/startupz": startupz, "/readyz": readyz, "/metrics": metrics}


def _verdict(reason: str, remarks: Sequence[str] = ()) -> Page:
    """`ok` or the reason, and a line for each remark."""
    return Page.of("\n".join([reason or "ok", *filter(None, remarks)]), 503 if reason else 200)
