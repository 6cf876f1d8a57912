"""A board from its start to its end: one look at Temporal an interval, however many people have the page open."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from schedules.board.asked import Questions
from schedules.board.latest import Latest
from schedules.board.picture import Picture
from schedules.board.routes import Board
from schedules.console.signals import until_told_to_stop
from schedules.console.terminal import say
from schedules.ledger.records import Records
from schedules.monitor.looking import Looking
from schedules.serve.serving import serving
from schedules.server.connection import connect
from schedules.server.pace import Pace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from datetime import datetime, timedelta

    from temporalio.client import Client

    from schedules.errors import TickwrightError
    from schedules.ledger.selection import Selection
    from schedules.monitor.watch import Watch
    from schedules.serve.guard import Guard

FOR_CLICKS = 0.4
"""This part of the calls is for clicks, which so need not wait for a look."""


async def serve(
    meant: Selection, address: tuple[str, int], guard: Guard, interval: timedelta, rate: int, ui: str = ""
) -> None:
    """Until SIGINT or SIGTERM. Raises AddressInUseError, and SettingsError for a connection that cannot be used."""
    async with board(meant, address, guard, interval, rate, ui) as (url, looking):
        say(f"the board is at {url}/")
        await until_told_to_stop(looking.run())


@asynccontextmanager
async def board(
    meant: Selection,
    address: tuple[str, int],
    guard: Guard,
    interval: timedelta,
    rate: int,
    ui: str = "",
    connected: Callable[[], Awaitable[Client]] = connect,
) -> AsyncIterator[tuple[str, Looking]]:
    """Serves, and gives the URL and what has to be run for the page to show anything. Raises AddressInUseError."""
    latest, picture = Latest(interval), Picture(meant)
    pages = Board(latest, guard, interval)
    looks, clicks = _paces(rate)
    looking = Looking(meant, interval, looks, _Audience(pages, latest, picture, clicks, ui), picture.let_go, connected)
    async with serving(pages.application(), address, "--address") as url:
        yield url, looking


def _paces(rate: int) -> tuple[Pace, Pace]:
    """Of looks and of clicks, which together keep to the rate."""
    for_clicks = int(rate * FOR_CLICKS)
    looks = Pace(rate - for_clicks)
    return looks, Pace(for_clicks) if for_clicks else looks


class _Audience:
    """Draws each look."""

    def __init__(self, board: Board, latest: Latest, picture: Picture, clicks: Pace, ui: str) -> None:
        self._board = board
        self._latest = latest
        self._picture = picture
        self._clicks = clicks
        self._ui = ui
        self._namespace = ""

    def connected(self, records: Records) -> None:
        self._namespace = records.client.namespace
        self._board.questions = Questions(Records(records.client, self._clicks), self._ui)

    async def saw(self, watch: Watch, now: datetime, _took: float) -> None:
        """In a thread, so that pages are served meanwhile; Watch does nothing until then."""
        drawn = await asyncio.to_thread(self._picture.drawn, watch.known, watch.counted_from, now)
        await asyncio.to_thread(self._latest.show, drawn, now, namespace=self._namespace)
        self._board.known = watch.known

    def failed(self, error: TickwrightError) -> None:
        self._latest.fail(str(error))
