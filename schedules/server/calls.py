"""Calls of the server: those that it could not answer just now are made again, for a while, at a pace that it allows."""

from __future__ import annotations

import asyncio
import random
import time
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import stamina
import stamina.instrumentation
from temporalio.service import RPCError, RPCStatusCode

from schedules.errors import NoNamespaceError, ServerAwayError, ServerError
from schedules.server.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from google.protobuf.message import Message

Response = TypeVar("Response")
RPC_TIMEOUT = timedelta(seconds=15)
AWAY = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.CANCELLED,  # These three: the connection broke in the middle of the call.
        RPCStatusCode.UNKNOWN,
        RPCStatusCode.INTERNAL,
    }
)
TRANSIENT = AWAY | {RPCStatusCode.RESOURCE_EXHAUSTED}
PATIENCE = 30.0
"""Seconds for which one call is repeated. A server that answered no call for so long is away: then each is made once."""
FIRST_WAIT, LONGEST_WAIT, JITTER = 0.1, 3.0, 0.5

stamina.instrumentation.set_on_retry_hooks([])  # Its own would write to stdout, which belongs to the JSON document.


class Calls:
    """Makes the calls of one client. A request that carries a request id may be repeated: the server takes it once."""

    def __init__(self, pace: Pace, patience: float = PATIENCE) -> None:
        """`patience` is seconds."""
        self._pace = pace
        self._patience = patience
        self._answered_at = time.monotonic()
        #: Since when no call is answered; None where the last one was.
        self._silent_since: float | None = None

    async def __call__(self, what: str, call: Callable[..., Awaitable[Response]], request: Message) -> Response:
        """The response. Raises ServerError for what the server refuses, ServerAwayError for a server that stays away."""
        try:
            try:
                return await self._once(call, request)
            except RPCError as error:
                left = self._time_left()
                if not left or not _is_transient(error):
                    raise
            return await self._repeated(call, request, left)
        except RPCError as error:
            if _is_about_the_namespace(error):
                raise NoNamespaceError(what, str(getattr(request, "namespace", "")), error.message) from error
            kind = ServerAwayError if self._is_away() else ServerError
            raise kind(what, error.status.name, error.message) from error

    async def _repeated(self, call: Callable[..., Awaitable[Response]], request: Message, left: float) -> Response:
        """For so many seconds. Apart from the first attempt, since nearly all calls need no other."""
        await asyncio.sleep(random.uniform(0, FIRST_WAIT))
        attempts = stamina.retry_context(
            on=_is_transient,
            attempts=None,
            timeout=left,
            wait_initial=FIRST_WAIT,
            wait_max=LONGEST_WAIT,
            wait_jitter=JITTER,
        )
        async for attempt in attempts:
            with attempt:
                return await self._once(call, request)
        raise AssertionError("stamina raises the last error")

    async def _once(self, call: Callable[..., Awaitable[Response]], request: Message) -> Response:
        await self._pace.turn()
        begun = time.monotonic()
        try:
            response = await call(request, retry=False, timeout=RPC_TIMEOUT)
        except RPCError as error:
            self._note(error.status, begun)
            raise
        self._note(None, begun)
        self._pace.speed_up()
        return response

    def _note(self, status: RPCStatusCode | None, begun: float) -> None:
        if status == RPCStatusCode.RESOURCE_EXHAUSTED:
            self._pace.slow_down()
        if status not in AWAY:
            self._answered_at, self._silent_since = time.monotonic(), None
        elif self._silent_since is None:
            self._silent_since = max(begun, self._answered_at)

    def _time_left(self) -> float:
        return max(self._patience - self._silent(), 0.0)

    def _is_away(self) -> bool:
        """A server that answers other calls is not, though it never gets this one done."""
        return self._silent() > self._patience / 2

    def _silent(self) -> float:
        """Seconds for which the server has been asked and has not answered; a time in which nobody asked is no silence."""
        return 0.0 if self._silent_since is None else time.monotonic() - self._silent_since


def _is_about_the_namespace(error: RPCError) -> bool:
    """Whether it is the namespace that was not found; the status alone does not tell."""
    details = error.grpc_status.details if error.status == RPCStatusCode.NOT_FOUND else ()
    return any(detail.type_url.endswith(".NamespaceNotFoundFailure") for detail in details)


def _is_transient(error: Exception) -> bool:
    return isinstance(error, RPCError) and error.status in TRANSIENT
