"""The part of an HTTP answer that is kept: its status and the start of its body."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from activities.steps.readable import read_json

if TYPE_CHECKING:
    import aiohttp

    from activities.steps.redact import Redactor

MAX_BODY = 16 * 1024
"""Bytes; of a larger body no more is read."""


@dataclass(frozen=True, slots=True)
class Capture:
    """An answer; `data` holds at most MAX_BODY bytes of its body, `cut` says that there are more."""

    status: int
    reason: str
    data: bytes
    cut: bool
    charset: str
    encoding: str
    retry_after: str | None
    location: str

    def body(self, redactor: Redactor) -> Any:
        """JSON when the body is a whole JSON document, else text, with a mark where it was cut and no rest of a secret there.

        Whole secrets are still in it.
        """
        if self.encoding not in {"", "identity"}:
            return f"[{self.encoding} data, not shown]"
        text = self._text()
        if self.cut:
            return f"{redactor.without_rest(text, at_start=False)}… [cut after {MAX_BODY} bytes]"
        try:
            return read_json(text)
        except ValueError:
            return text

    def _text(self) -> str:
        decoder = codecs.getincrementaldecoder(self.charset if _is_charset(self.charset) else "utf-8")("replace")
        # An incremental decoder keeps back the half of a character at a cut.
        return decoder.decode(self.data, final=not self.cut)


async def capture(response: aiohttp.ClientResponse) -> Capture:
    """Read no more of `response` than is kept of it; the rest is given up with its connection."""
    data = bytearray()
    while chunk := await response.content.read(MAX_BODY + 1 - len(data)):
        data += chunk
    if len(data) > MAX_BODY:
        response.close()
    return Capture(
        status=response.status,
        reason=response.reason or "",
        data=bytes(data[:MAX_BODY]),
        cut=len(data) > MAX_BODY,
        charset=response.charset or "utf-8",
        encoding=response.headers.get("Content-Encoding", "").lower(),
        retry_after=response.headers.get("Retry-After"),
        location=response.headers.get("Location", ""),
    )


def _is_charset(name: str) -> bool:
    """Whether `name` stands for text; Python also has codecs such as `hex`, which do not."""
    try:
        b" ".decode(name, "replace")
    except LookupError:
        return False
    return True
