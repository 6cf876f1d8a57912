"""The end of a process's output, in bounded memory however much there is."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from activities.steps.redact import Redactor

_HELD_OPEN_SECONDS = 1.0
_CONTINUATION = bytes(range(0x80, 0xC0))


class Tail(asyncio.Protocol):
    """Keeps the last `limit` bytes of what comes through a pipe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self._cut = False
        self._ended = asyncio.Event()
        self._transport: asyncio.BaseTransport | None = None

    @classmethod
    async def of(cls, pipe: IO[bytes], limit: int) -> Tail:
        """Start to read `pipe`, which is closed at its end."""
        _, tail = await asyncio.get_running_loop().connect_read_pipe(lambda: cls(limit), pipe)
        return tail

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = transport

    def close(self) -> None:
        """Stop to read; the pipe is closed."""
        if self._transport is not None:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        self._data += data
        excess = len(self._data) - self._limit
        if excess > 0:
            self._cut = True
            del self._data[:excess]

    def connection_lost(self, _exc: Exception | None) -> None:
        """Called by the loop."""
        self._ended.set()

    async def text(self, redactor: Redactor) -> str:
        """The end of the output without secrets, with a mark where it was cut.

        Waits for the pipe's end, but not for ever: a process that left its group may hold it open.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(_HELD_OPEN_SECONDS):
                await self._ended.wait()
        text = self._without_half_character().decode(errors="replace")
        if not self._cut:
            return redactor.text(text)
        return f"[cut, the last {self._limit} bytes] …{redactor.text(text, cut_start=True)}"

    def _without_half_character(self) -> bytes:
        """UTF-8 characters have up to three bytes after the first, each 10xxxxxx."""
        head = bytes(self._data[:3]) if self._cut else b""
        return bytes(self._data[len(head) - len(head.lstrip(_CONTINUATION)) :])
