"""The parts of `tickwright dev`: the demo service, Temporal, the board and the view of the runs, each for as long as a context lasts."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.commands.explain import UI_URL
from schedules.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from temporalio.client import Client

    from worker.dev.ports import Ports
    from worker.process.lifecycle import Stop

LAST_LOOK = 5.0
BOARD_INTERVAL, BOARD_RATE = 5.0, 25
DEMO_URL, DEMO_STATE = "TICKWRIGHT_SECRET_DEMO_URL", "TICKWRIGHT_SECRET_DEMO_STATE"


def no_summary() -> str:
    """Of no demo service."""
    return ""


async def demo(parts: AsyncExitStack, state: Path) -> Callable[[], str]:
    """What the examples work with: a service and a folder, which they find by reference; gives the service's summary."""
    from worker.dev.demo_service import demo_service

    (state / "exports").mkdir(exist_ok=True)
    database = state / "demo.db"
    try:
        service = await parts.enter_async_context(demo_service(database))
    except sqlite3.DatabaseError as error:
        raise SettingsError(f"{database} is not a database of the demo service ({error}); remove it") from error
    os.environ |= {DEMO_URL: service.url, DEMO_STATE: str(state)}
    return service.summary


@asynccontextmanager
async def temporal(state: Path, ports: Ports, stop: Stop) -> AsyncIterator[tuple[Client, str]]:
    """The server that TEMPORAL_ADDRESS names, else an embedded one; and its Web UI, as far as that is known."""
    from temporalio.client import Client

    from schedules.server.codec import data_converter
    from schedules.server.codec_keys import codec_keys
    from schedules.server.connection import connect
    from worker.dev.embedded import embedded_server
    from worker.dev.ports import USUAL

    if address := os.environ.get("TEMPORAL_ADDRESS"):
        print(f"Temporal: {address}")
        yield await connect(), os.environ.get(UI_URL, "")
        return
    async with embedded_server(state, stop.ask, ports) as server:
        if server.port != USUAL["port"]:
            print(f"for other commands, export TEMPORAL_ADDRESS={server.address}")
        print(f"Temporal: {server.address}\nWeb UI:   {server.ui}", flush=True)
        yield await Client.connect(server.address, data_converter=data_converter(codec_keys())), server.ui


@asynccontextmanager
async def board_page(client: Client, ports: Ports, ui: str) -> AsyncIterator[None]:
    """The board of all jobs of the namespace, while the context lasts."""
    from schedules.board.serve import board
    from schedules.ledger.selection import Selection
    from schedules.serve.guard import Guard
    from worker.dev.ports import HOST

    async def connected() -> Client:
        return client

    interval, meant = timedelta(seconds=BOARD_INTERVAL), Selection(None)
    with ports.claimed("board_port") as port:
        async with board(meant, (HOST, port), Guard(None), interval, BOARD_RATE, ui, connected) as (url, looking):
            print(f"Board:    {url}/", flush=True)
            looks = asyncio.create_task(looking.run())
            try:
                yield
            finally:
                looks.cancel()
                await asyncio.wait((looks,))


@asynccontextmanager
async def shown_runs(client: Client, owner: str, since: datetime, footer: Callable[[], str]) -> AsyncIterator[None]:
    """Shows the runs that finish while the context lasts."""
    from worker.dev.feed import finished_runs
    from worker.dev.live import live_runs

    ended = asyncio.Event()

    async def show_all() -> None:
        with live_runs(footer) as show:
            async for finished in finished_runs(client, owner, since, ended):
                show(finished)

    showing = asyncio.create_task(show_all())
    try:
        yield
    finally:
        ended.set()
        done, _ = await asyncio.wait((showing,), timeout=LAST_LOOK)
        showing.cancel()
    for task in done:
        task.result()
