"""Heartbeats of an attempt: a dead worker is noticed by their absence, and they carry what a handler reports."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from activities.contract import Altered
from activities.steps.altered import Alterations, without
from activities.steps.output import MAX_OUTPUT, to_json
from activities.steps.readable import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from activities.steps.redact import Redactor


class Heart:
    """Sends heartbeats by `send` on the loop on which it was made; `last`, the details so far, goes with each.

    Where something was masked in the details, a list of those places follows them.
    """

    def __init__(self, send: Callable[..., None], last: Sequence[Any], redactor: Redactor) -> None:
        self._send = send
        self._last = tuple(last)
        self._redactor = redactor
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()

    @property
    def last(self) -> Any:
        """Details of the last heartbeat, None before the first, and in the place of what was masked in them."""
        details, *places = self._last or (None,)
        return without(details, [Altered(path, "") for path in places[0]]) if places else details

    def report(self, details: Any) -> None:
        """Send `details` without secrets, from any thread. Raises ValueError when not JSON or over MAX_OUTPUT."""
        places = Alterations()
        plain = self._redactor.value(readable(to_json(details), places.too_deep), places.masked)
        if (size := len(json.dumps(plain))) > MAX_OUTPUT:
            raise ValueError(f"heartbeat details of {size} characters; at most {MAX_OUTPUT} are stored")
        masked = [place.path for place in places.found]
        self._loop.call_soon_threadsafe(self._replace, plain, *([masked] if masked else []), context=self._context)

    @contextmanager
    def beating(self, interval: float) -> Iterator[None]:
        """Send a heartbeat now and every `interval` seconds while the block runs."""
        task = asyncio.create_task(self._beat(interval))
        try:
            yield
        finally:
            task.cancel()

    async def _beat(self, interval: float) -> None:
        while True:
            self._send(*self._last)
            await asyncio.sleep(interval)

    def _replace(self, *details: Any) -> None:
        self._last = details
        self._send(*details)
