"""Serving an aiohttp application on an address until its context ends."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from schedules.errors import TickwrightError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import web


class AddressInUseError(TickwrightError):
    """An address cannot be bound; `setting` is what names it."""

    def __init__(self, host: str, port: int, detail: str, setting: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: {detail}; set {setting} to a free one (port 0 takes any)")


class _NoRequest(logging.Filter):
    """Leaves out requests that are none: their sender is told, and anybody who gets that far could fill a log with them."""

    def filter(self, record: logging.LogRecord) -> bool:
        from aiohttp.http_exceptions import HttpProcessingError

        return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


LOGGER = logging.getLogger("aiohttp.server.tickwright")
LOGGER.addFilter(_NoRequest())


@asynccontextmanager
async def serving(application: web.Application, address: tuple[str, int], setting: str) -> AsyncIterator[str]:
    """Serves and gives the URL. Raises AddressInUseError."""
    from aiohttp import web

    runner = web.AppRunner(application, access_log=None, logger=LOGGER, shutdown_timeout=1.0)
    await runner.setup()
    host, port = address
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise AddressInUseError(host, port, error.strerror or str(error), setting) from error
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
