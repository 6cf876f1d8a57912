"""Health over HTTP: is this process alive, has it begun, and should work be counted on from it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, NoReturn

import structlog
from prometheus_client import CollectorRegistry
from temporalio.service import RPCError, RPCStatusCode

from schedules.serve.guard import Guard
from schedules.serve.pages import Page, metrics_page, serving_pages
from worker.health.reach import REFUSALS, ask_for_namespace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from email.message import Message

    from temporalio.client import Client


State = Literal["starting", "polling", "draining"]
REACH_TIMEOUT = timedelta(seconds=2)
LOOK_EVERY = 5.0
"""Seconds between two looks of the worker at itself."""
SILENCE = frozenset({RPCStatusCode.CANCELLED, RPCStatusCode.DEADLINE_EXCEEDED})
"""What a call is told as to which the server gives no answer in time."""


@dataclass
class Health:
    """What the worker says of itself; set by its lifecycle, read by the probes."""

    metrics: CollectorRegistry
    state: State = "starting"
    client: Client | None = field(default=None, repr=False)
    burden: Callable[[], str] = lambda: ""
    """What only a restart mends; empty for nothing."""
    polls: Callable[[], str] = lambda: ""
    """Why the server gives this worker no work; empty where it does."""
    remarks: Callable[[], list[str]] = list
    """What is worth a word, yet no fault of this worker: it stays ready, lest a rollout or an autoscaler count it out."""
    tell: Callable[[bool], None] = lambda _ready: None
    """Told at each look whether the worker is ready."""
    last: str = "starting"
    """What the last look has found."""

    async def look(self) -> str:
        """Why no work should be counted on; empty where it should. A change is logged."""
        reason = await self._unready_reason()
        if reason != self.last and self.state == "polling":
            log = structlog.get_logger()
            if reason:
                log.error("not ready", action="worker_unready", reason=reason)
            else:
                log.info("ready", action="worker_ready")
        self.last = reason
        self.tell(not reason)
        return reason

    async def keep_looking(self) -> NoReturn:
        """Also where nobody probes."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY)

    async def _unready_reason(self) -> str:
        if self.state != "polling" or self.client is None:
            return self.state
        if burden := self.burden():
            return burden
        try:
            await ask_for_namespace(self.client, REACH_TIMEOUT)
        except RPCError as error:
            return _refusal(error, self.client.namespace)
        return (
            self.polls()
        )  # Asked for last: an answer to a later request has come, so that to the first polls is here, too.


def _refusal(error: RPCError, namespace: str) -> str:
    if error.status in REFUSALS:
        return f"namespace {namespace} is refused: {error.status.name}"
    if error.status in SILENCE:
        return f"server unreachable: no answer within {REACH_TIMEOUT.total_seconds():g} s"
    return f"server unreachable: {error.status.name}"


@asynccontextmanager
async def serve_health(health: Health, address: tuple[str, int], guard: Guard | None = None) -> AsyncIterator[str]:
    """Serves /livez, /startupz, /readyz and /metrics and gives the URL. Raises AddressInUseError.

    The guard stands before /metrics alone: a probe of Kubernetes can take no header from a Secret.
    """
    async with serving_pages(_pages(health, guard or Guard(None)), address, "TICKWRIGHT_HTTP_ADDRESS") as url:
        yield url


def _pages(health: Health, guard: Guard) -> dict[str, Callable[[Message], Awaitable[Page]]]:
    async def livez(_: Message) -> Page:
        return _verdict(health.burden())

    async def startupz(_: Message) -> Page:
        return _verdict("starting" if health.state == "starting" else "")

    async def readyz(_: Message) -> Page:
        return _verdict(await health.look(), health.remarks())

    async def metrics(headers: Message) -> Page:
        return metrics_page(health.metrics, guard, headers)

    return {"/livez": livez, "/startupz": startupz, "/readyz": readyz, "/metrics": metrics}


def _verdict(reason: str, remarks: Sequence[str] = ()) -> Page:
    """`ok` or the reason, and a line for each remark."""
    return Page.of("\n".join([reason or "ok", *filter(None, remarks)]), 503 if reason else 200)
