"""A text of any length in bounded memory: its beginning, its end, and its length."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from activities.steps.redact import Redactor

HEAD, TAIL = 1024, 8 * 1024
"""Bytes that people are shown of what is longer than both together."""
_CONTINUATION = bytes(range(0x80, 0xC0))


class Kept:
    """The first HEAD and the last `kept` bytes of what is added."""

    def __init__(self, kept: int = TAIL) -> None:
        self._kept = kept
        self._head = bytearray()
        self._data = bytearray()
        self.size = 0
        """Bytes so far."""

    def add(self, data: bytes) -> None:
        """Add what comes next."""
        self.size += len(data)
        self._head += data[: HEAD - len(self._head)]
        self._data += data
        del self._data[: max(len(self._data) - self._kept, 0)]

    @property
    def data(self) -> bytes:
        """The end: all of it unless `is_cut`."""
        return bytes(self._data)

    @property
    def is_cut(self) -> bool:
        """Whether there was more than `data`."""
        return self.size > self._kept

    def text(self, redactor: Redactor) -> str:
        """The text; of a long one the beginning and the end, with how long it was between them.

        No rest of a secret stands at the cuts; whole secrets are still in it.
        """
        if self.size <= HEAD + TAIL:
            before = self._head[: self.size - len(self._data)]
            return (before + self._data).decode(errors="replace")
        head = redactor.without_rest(_whole_end(bytes(self._head)).decode(errors="replace"), at_start=False)
        mark = f"\n… [{size_text(self.size)} in all, the first 1 KiB and the last 8 KiB kept] …\n"
        return head + mark + self.end(redactor, TAIL)

    def end(self, redactor: Redactor, size: int) -> str:
        """The last `size` bytes as text, without a rest of a secret at the cut."""
        if self.size <= size:
            return self._data.decode(errors="replace")
        text = _whole_start(bytes(self._data[-size:])).decode(errors="replace")
        return redactor.without_rest(text, at_start=True)


def size_text(size: int) -> str:
    """Bytes in words: `812 bytes`, `3.2 MB`."""
    for unit, worth in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= worth:
            return f"{size / worth:.1f} {unit}"
    return f"{size} bytes"


def _whole_start(data: bytes) -> bytes:
    """Without the rest of a character: UTF-8 characters have up to three bytes after the first, each 10xxxxxx."""
    head = data[:3]
    return data[len(head) - len(head.lstrip(_CONTINUATION)) :]


def _whole_end(data: bytes) -> bytes:
    """Without the beginning of a character."""
    for back in range(1, min(len(data), 4) + 1):
        byte = data[-back]
        if byte not in _CONTINUATION:
            length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4  # noqa: PLR2004 - RFC 3629
            return data if length <= back else data[:-back]
    return data
