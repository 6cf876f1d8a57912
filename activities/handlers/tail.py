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
    """Keeps the last `kept` bytes of what comes through a pipe, of which people are shown the last `shown`."""

    def __init__(self, shown: int, kept: int) -> None:
        self._shown = shown
        self._kept = kept
        self._data = bytearray()
        self._size = 0
        self._ended = asyncio.Event()
        self._transport: asyncio.BaseTransport | None = None

    @classmethod
    async def of(cls, pipe: IO[bytes], shown: int, kept: int) -> Tail:
        """Start to read `pipe`, which is closed at its end."""
        _, tail = await asyncio.get_running_loop().connect_read_pipe(lambda: cls(shown, kept), pipe)
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
        self._size += len(data)
        self._data += data
        del self._data[: max(len(self._data) - self._kept, 0)]

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
        """The bytes kept: all of the output unless `is_cut`."""
        return bytes(self._data)

    @property
    def is_cut(self) -> bool:
        """Whether there was more than is kept."""
        return self._size > self._kept

    def text(self, redactor: Redactor) -> str:
        """The end of the output, with a mark where it was cut and no rest of a secret there; whole secrets are still in it."""
        if self._size <= self._shown:
            return self._data.decode(errors="replace")
        text = _without_half_character(self.data[-self._shown :]).decode(errors="replace")
        return f"[cut, the last {self._shown} bytes] …{redactor.without_rest(text, at_start=True)}"


def _without_half_character(data: bytes) -> bytes:
    """UTF-8 characters have up to three bytes after the first, each 10xxxxxx."""
    head = data[:3]
    return data[len(head) - len(head.lstrip(_CONTINUATION)) :]
