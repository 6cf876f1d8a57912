"""How activities' outcomes reach the server: told until it takes them, since the SDK's core gives up after ten seconds.

Then the work of an attempt would be lost to an outage of the server that it outlived.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import BrokenExecutor
from time import monotonic
from typing import TYPE_CHECKING, Any

import structlog
from temporalio import activity
from temporalio.exceptions import CancelledError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import (
    ActivityInboundInterceptor,
    ActivityOutboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

if TYPE_CHECKING:
    from temporalio.client import AsyncActivityHandle, Client

PAUSE = 1.0
"""Seconds between two tries; each of them makes several of its own."""
LONGEST = 600.0
"""Seconds to go on for an activity that says no limit of its own."""
PASSING = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.CANCELLED,  # What a connection that breaks under a call is told as.
        RPCStatusCode.UNKNOWN,
        RPCStatusCode.INTERNAL,
        RPCStatusCode.ABORTED,
        RPCStatusCode.DEADLINE_EXCEEDED,
    }
)
"""Answers that may be others later; what else there is, the SDK is left to deal with."""

Telling = Callable[["AsyncActivityHandle"], Awaitable[None]]


class Delivery(Interceptor):
    """Tells `client`'s server of results and failures, for as long as it waits for them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        """Called by the SDK."""
        return _Delivered(next, self._client)


class _Delivered(ActivityInboundInterceptor):
    """One attempt of an activity; for the SDK it is one that is completed from elsewhere."""

    def __init__(self, following: ActivityInboundInterceptor, client: Client) -> None:
        super().__init__(following)
        self._client = client
        self._began = monotonic()

    def init(self, outbound: ActivityOutboundInterceptor) -> None:
        self._heartbeats = _LastHeartbeat(outbound)
        super().init(self._heartbeats)

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - the SDK's name
        try:
            result = await super().execute_activity(input)
        except (CancelledError, BrokenExecutor):
            raise
        except Exception as error:
            failure, details = error, self._heartbeats.details
            if not await self._taken(lambda handle: handle.fail(failure, last_heartbeat_details=details)):
                raise
        else:
            if not await self._taken(lambda handle: handle.complete(result)):
                return result
        return activity.raise_complete_async()

    async def _taken(self, tell: Telling) -> bool:
        """Whether the server has the outcome or no longer wants it; otherwise the SDK is to report it in its own way."""
        info = activity.info()
        if info.is_local or activity.is_cancelled():
            return False
        handle = self._client.get_async_activity_handle(task_token=info.task_token)
        wanted = info.start_to_close_timeout or info.schedule_to_close_timeout
        until = self._began + (wanted.total_seconds() if wanted else LONGEST)
        try:
            while not await _delivered(tell, handle):
                if monotonic() > until:
                    return False
                await asyncio.sleep(PAUSE)
        except (asyncio.CancelledError, Exception):  # noqa: BLE001 - a drain has no time left, or the result is no JSON
            return False
        return True


class _LastHeartbeat(ActivityOutboundInterceptor):
    """Remembers the last details, which a failure carries to the next attempt."""

    details: tuple[Any, ...] = ()

    def heartbeat(self, *details: Any) -> None:
        self.details = details
        super().heartbeat(*details)


async def _delivered(tell: Telling, handle: AsyncActivityHandle) -> bool:
    """One try. Raises RPCError for an answer that waiting does not change."""
    log = structlog.get_logger()
    try:
        await tell(handle)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            log.warning("the server no longer waits for this attempt", action="outcome_unwanted", error=error.message)
            return True
        if error.status not in PASSING:
            raise
        log.warning("the server is away; the outcome is kept for it", action="outcome_kept", error=error.status.name)
        return False
    return True
