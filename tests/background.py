"""An asynchronous context for tests that are not: it lives in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

Value = TypeVar("Value")


@contextmanager
def in_background(context: AbstractAsyncContextManager[Value]) -> Iterator[Value]:
    """Enters it, and leaves it with the block; what it raises is raised here."""
    entered, done = Future[Value](), Future[asyncio.Event]()

    async def live() -> None:
        over = asyncio.Event()
        done.set_result(over)
        async with context as value:
            entered.set_result(value)
            await over.wait()

    def run() -> None:
        try:
            loop.run_until_complete(live())
        except BaseException as error:  # noqa: BLE001 - it goes to whoever waits
            if not entered.done():
                entered.set_exception(error)
        finally:
            loop.close()

    loop = asyncio.new_event_loop()
    thread = Thread(target=run)
    thread.start()
    try:
        yield entered.result()
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(done.result().set)
        thread.join()
