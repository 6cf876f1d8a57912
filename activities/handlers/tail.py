"""The output of a process, of which the beginning and the end are kept however much there is."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from activities.steps.kept import Kept

if TYPE_CHECKING:
    from activities.steps.redact import Redactor
    from activities.steps.whole import Whole

_HELD_OPEN_SECONDS = 1.0


class Tail(asyncio.Protocol):
    """Reads what comes through a pipe."""

    def __init__(self, kept: int, whole: Whole | None = None) -> None:
        self._kept = Kept(kept)
        self.whole = whole
        self._ended = asyncio.Event()
        self._transport: asyncio.BaseTransport | None = None

    @classmethod
    async def of(cls, pipe: IO[bytes], kept: int, whole: Whole | None = None) -> Tail:
        """Start to read `pipe`, which is closed at its end; `kept` are bytes of the end that `data` has, `whole` gets all."""
        _, tail = await asyncio.get_running_loop().connect_read_pipe(lambda: cls(kept, whole), pipe)
        return tail

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = transport

    def close(self) -> None:
        """Stop to read; the pipe is closed."""
        if self._transport is not None:
            self._transport.close()
        if self.whole is not None:
            self.whole.close()

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        self._kept.add(data)
        if self.whole is not None:
            self.whole.add(data)

    def connection_lost(self, _exc: Exception | None) -> None:
        """Called by the loop."""
        self._ended.set()

    async def ended(self) -> None:
        """Waits for the pipe's end, but not for ever: a process that left its group may hold it open."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_HELD_OPEN_SECONDS):
                await self._ended.wait()

    @property
    def data(self) -> bytes:
        """The end of the output: all of it unless `is_cut`."""
        return self._kept.data

    @property
    def is_cut(self) -> bool:
        """Whether there was more than `data`."""
        return self._kept.is_cut

    def text(self, redactor: Redactor) -> str:
        """What people are shown; whole secrets are still in it."""
        return self._kept.text(redactor)

    def end(self, redactor: Redactor, size: int) -> str:
        """Its last `size` bytes, likewise."""
        return self._kept.end(redactor, size)
