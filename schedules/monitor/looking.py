"""Looking at Temporal again and again until told to stop, also while it is away; shared by what serves what it saw."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from temporalio.service import RPCStatusCode

from schedules.console.terminal import say
from schedules.errors import ServerError, TickwrightError, UnreachableError
from schedules.ledger.records import Records
from schedules.monitor.watch import Watch, forget
from schedules.server.connection import connect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from temporalio.client import Client

    from activities.account.facts import Run
    from schedules.ledger.selection import Selection
    from schedules.server.pace import Pace

LONGEST_WAIT = 5.0
"""Seconds between two tries to reach a server that is not there yet."""


class Audience(Protocol):
    """The receiver of each poll's results."""

    def connected(self, records: Records) -> None:
        """Once, before the first look."""

    async def saw(self, watch: Watch, now: datetime, took: float) -> None:
        """A look has succeeded, in so many seconds."""

    def failed(self, error: TickwrightError) -> None:
        """One has not, or there is no connection yet."""


class Looking:
    """One look an interval, at that pace; `let_go` is that of Watch, `connected` gives the client."""

    def __init__(
        self,
        meant: Selection,
        interval: timedelta,
        pace: Pace,
        audience: Audience,
        let_go: Callable[[str, Sequence[Run]], None] = forget,
        connected: Callable[[], Awaitable[Client]] = connect,
    ) -> None:
        self._meant = meant
        self._interval = interval.total_seconds()
        self._pace = pace
        self._audience = audience
        self._let_go = let_go
        self._connect = connected
        self._trouble = ""

    async def run(self) -> None:
        """Without an end. Raises SettingsError for a connection that cannot be used, and ServerError for a namespace that is not there."""
        records = Records(await self._connected(), self._pace)
        await check_namespace(records)
        self._audience.connected(records)
        watch = Watch(records, self._meant, self._let_go)
        while True:
            began, now = time.monotonic(), datetime.now(UTC)
            try:
                await watch.look(now)
            except ServerError as error:
                self._failed(error)
            else:
                await self._audience.saw(watch, now, time.monotonic() - began)
                self._say("")
            await asyncio.sleep(max(self._interval - (time.monotonic() - began), 0.0))

    async def _connected(self) -> Client:
        """Waits for a server that is not there yet."""
        while True:
            try:
                return await self._connect()
            except UnreachableError as error:
                self._failed(error)
            await asyncio.sleep(min(self._interval, LONGEST_WAIT))

    def _failed(self, error: TickwrightError) -> None:
        self._audience.failed(error)
        self._say(str(error))

    def _say(self, trouble: str) -> None:
        """What is wrong, once; and once that it is over."""
        if trouble != self._trouble:
            say(trouble or "the server answers again")
        self._trouble = trouble


async def check_namespace(records: Records) -> None:
    """Raises ServerError for a namespace that does not exist: waiting would not help. One that cannot be asked now is looked at later."""
    try:
        await records.retention()
    except ServerError as error:
        if error.code == RPCStatusCode.NOT_FOUND.name:
            raise
