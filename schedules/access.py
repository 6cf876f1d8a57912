"""Who may read what is served."""

from __future__ import annotations

import binascii
from base64 import b64decode
from hmac import compare_digest
from typing import TYPE_CHECKING

from schedules.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

SCHEME, BASIC = "Bearer ", "Basic "


class Token:
    """What has to be sent as `Authorization: Bearer …`, or as the password of Basic, which is what a browser can send.

    Of a file it is what that holds at that moment.
    """

    def __init__(self, text: str = "", file: Path | None = None) -> None:
        self._text = text
        self._file = file

    @classmethod
    def of(cls, given: str, file: Path | None) -> Token | None:
        """None where everyone may. Raises SettingsError for a file without a token, and for two tokens."""
        if given and file:
            raise SettingsError("TICKWRIGHT_HTTP_TOKEN and TICKWRIGHT_HTTP_TOKEN_FILE are both given; remove one")
        token = cls(given, file)
        if file and not token._expected():
            raise SettingsError(f"TICKWRIGHT_HTTP_TOKEN_FILE: no token in {file}, or it cannot be read")
        return token if given or file else None

    def admits(self, authorization: str) -> bool:
        """Whether a request with this header may read; how long the answer takes does not tell how much of it is right."""
        expected = self._expected()
        return bool(expected) and compare_digest(_given(authorization), expected)

    def _expected(self) -> bytes:
        """Empty where the file is not there: then nobody may."""
        if self._file is None:
            return self._text.encode()
        try:
            return self._file.read_bytes().strip()
        except OSError:
            return b""


def _given(authorization: str) -> bytes:
    """Empty where nothing was, or where it cannot be read."""
    if authorization.startswith(SCHEME):
        return authorization.removeprefix(SCHEME).encode(errors="surrogateescape")
    if not authorization.startswith(BASIC):
        return b""
    try:
        return b64decode(authorization.removeprefix(BASIC), validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""
