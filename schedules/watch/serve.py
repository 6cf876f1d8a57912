"""A monitor from its start to its end: looks at Temporal again and again, and serves what it saw."""

from __future__ import annotations

import asyncio
import signal
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from schedules.codec import active_key
from schedules.compile import compile_project
from schedules.connection import connect
from schedules.encryption import sealed
from schedules.errors import ServerError, UnreachableError
from schedules.ledger.records import Records
from schedules.pace import Pace
from schedules.pages import Page, Pages, metrics_page, serving_pages
from schedules.terminal import say
from schedules.watch.declared import declared
from schedules.watch.export import Exporter, Seen
from schedules.watch.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import Message

    from temporalio.client import Client

    from schedules.access import Token
    from schedules.model import DesiredSchedule
    from schedules.selection import Selection

PATIENCE = 3
"""Intervals without a look that succeeded, after which the monitor does not count as ready."""


async def serve(
    meant: Selection, address: tuple[str, int], token: Token | None, interval: timedelta, rate: int
) -> None:
    """Until SIGINT or SIGTERM. Raises AddressInUseError, and SettingsError for a connection that cannot be used."""
    seen, stop = Seen(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serving_pages(_pages(seen, token, interval), address, "--address") as url:
        say(f"metrics at {url}/metrics")
        watching = asyncio.ensure_future(_Monitor(meant, seen, interval, rate).run())
        stopping = asyncio.ensure_future(stop.wait())
        done, pending = await asyncio.wait((watching, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.wait(pending)
        if watching in done:
            await watching


class _Monitor:
    """Fills `seen`."""

    def __init__(self, meant: Selection, seen: Seen, interval: timedelta, rate: int) -> None:
        self._meant = meant
        self._seen = seen
        self._interval = interval.total_seconds()
        self._rate = rate
        self._trouble = ""
        self._desired: tuple[int, Mapping[str, DesiredSchedule]] | None = None

    async def run(self) -> None:
        client = await self._connected()
        records = Records(client, Pace(self._rate))
        watch = Watch(records, self._meant)
        self._seen.calls = records.calls
        while True:
            began, now = time.monotonic(), datetime.now(UTC)
            try:
                await watch.look(now)
            except ServerError as error:
                self._seen.failed_looks += 1
                self._say(str(error))
            else:
                self._show(watch, client, now, time.monotonic() - began)
                self._say("")
            await asyncio.sleep(max(self._interval - (time.monotonic() - began), 0.0))

    async def _connected(self) -> Client:
        """Waits for a server that is not there yet."""
        while True:
            try:
                return await connect()
            except UnreachableError as error:
                self._seen.failed_looks += 1
                self._say(str(error))
            await asyncio.sleep(min(self._interval, 5.0))

    def _show(self, watch: Watch, client: Client, now: datetime, took: float) -> None:
        seen = self._seen
        wanted = {name: each for name, each in self._wanted(client, now).items() if self._meant.takes(name)}
        seen.figures, seen.declared = watch.figures, list(declared(wanted, watch.jobs, now))
        seen.looked_at, seen.took, seen.unexplained = now, took, watch.unexplained

    def _wanted(self, client: Client, now: datetime) -> Mapping[str, DesiredSchedule]:
        """What the files compile to, which depends on the year."""
        if self._meant.project is None:
            return {}
        if self._desired is None or self._desired[0] != now.year:
            found = sealed(compile_project(self._meant.project, now), active_key(client.data_converter))
            self._desired = (now.year, found)
        return self._desired[1]

    def _say(self, trouble: str) -> None:
        """What is wrong, once; and once that it is over."""
        if trouble != self._trouble:
            say(trouble or "the server answers again")
        self._trouble = trouble


def _pages(seen: Seen, token: Token | None, interval: timedelta) -> Pages:
    registry = Exporter.registry(seen)

    async def livez(_: Message) -> Page:
        return Page.of("ok")

    async def readyz(_: Message) -> Page:
        if seen.looked_at and datetime.now(UTC) - seen.looked_at < PATIENCE * interval:
            return Page.of("ok")
        return Page.of("Temporal has not been looked at of late", 503)

    async def metrics(headers: Message) -> Page:
        return metrics_page(registry, token, headers)

    return {"/livez": livez, "/readyz": readyz, "/metrics": metrics}
