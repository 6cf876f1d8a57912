"""Heartbeats of an attempt: a dead worker is noticed by their absence, and they carry what a handler reports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from activities.contract import Altered
from activities.steps.altered import Alterations, without
from activities.steps.output import MAX_OUTPUT, to_json
from activities.steps.readable import readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from activities.steps.redact import Redactor


LIVE = 2 * 1024
"""Bytes of each stream of a step's output that go with a heartbeat."""
Live = Callable[[], dict[str, str]]
"""The end of what a step has put out so far, by stream; secrets are still in it."""


class Heartbeats:
    """Sends heartbeats by `send` on the loop on which it was made; `last`, the details so far, goes with each.

    Where something was masked in the details, a list of those places follows them; then comes what `live` says.
    """

    def __init__(self, send: Callable[..., None], last: Sequence[Any], redactor: Redactor) -> None:
        self._send = send
        self._last = tuple(last[:2])
        self.live: Live = dict
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
            self._beat_once()
            await asyncio.sleep(interval)

    def _beat_once(self) -> None:
        details, places = (*self._last, None, None)[:2]
        live = {name: text for name, text in self.live().items() if text}
        if live:
            self._send(details, places or [], self._redactor.value(readable(live)))
        else:
            self._send(*self._last)

    def _replace(self, *details: Any) -> None:
        self._last = details
        self._beat_once()
