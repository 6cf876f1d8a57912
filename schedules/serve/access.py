"""Access to served pages: one rule for worker, monitor and board."""

from __future__ import annotations

import binascii
import os
import re
from base64 import b64decode
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.errors import SettingsError
from schedules.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

HTTP = "TICKWRIGHT_HTTP"
ADDRESS, TOKEN, TOKEN_FILE = f"{HTTP}_ADDRESS", f"{HTTP}_TOKEN", f"{HTTP}_TOKEN_FILE"
NAMES = (TOKEN, TOKEN_FILE, ADDRESS, f"{HTTP}_HOSTS")
BEARER, BASIC = "bearer", "basic"
SENDABLE = re.compile(r"[!-~]+")
ADVICE = "write visible ASCII characters without spaces, or leave it out so that everyone may read"


def check_token(text: str) -> str:
    """A token that every client can send. Raises ValueError, whose text does not show it."""
    if not text:
        raise ValueError(f"is empty; {ADVICE}")
    if not SENDABLE.fullmatch(text):
        raise ValueError(f"no client can send this token; {ADVICE}")
    return text


def given_token(environ: Mapping[str, str] = os.environ) -> Token | None:
    """What the environment asks for; None where everyone may. Raises SettingsError, also for a misspelt name."""
    unknown = sorted(name for name in environ if name.startswith(HTTP) and name not in NAMES)
    if unknown:
        close = nearest(unknown[0], NAMES) or [TOKEN]
        raise SettingsError(f"{unknown[0]}: there is no such setting; did you mean {close[0]}?")
    file = environ.get(TOKEN_FILE)
    if file == "":
        raise SettingsError(f"{TOKEN_FILE}: is empty; name a file, or leave it out")
    return Token.of(environ.get(TOKEN), None if file is None else Path(file))


class Token:
    """What has to be sent as `Authorization: Bearer …`, or as the password of Basic, which is what a browser can send.

    Of a file it is what that holds at that moment.
    """

    def __init__(self, text: str = "", file: Path | None = None) -> None:
        self._text = text
        self._file = file

    @classmethod
    def of(cls, given: str | None, file: Path | None, name: str = TOKEN) -> Token | None:
        """None where neither is given: everyone may. Raises SettingsError for what is no token, and for two."""
        if given is None and file is None:
            return None
        if given is not None and file:
            raise SettingsError(f"{TOKEN} and {TOKEN_FILE} are both given; remove one")
        token = cls(given or "", file)
        if file and not token._expected():
            raise SettingsError(f"{TOKEN_FILE}: no token in {file}, or it cannot be read")
        try:
            check_token(token.text)
        except ValueError as error:
            raise SettingsError(f"{TOKEN_FILE}: {file}: {error}" if file else f"{name}: {error}") from None
        return token

    @property
    def text(self) -> str:
        """The token by now."""
        return self._expected().decode(errors="replace")

    def admits(self, authorization: str) -> bool:
        """Whether a request with this header may read; how long the answer takes does not tell how much of it is right."""
        expected = self._expected()
        return bool(expected) and compare_digest(_given(authorization), expected)

    def _expected(self) -> bytes:
        """Empty where the file is not there: then nobody may."""
        if self._file is None:
            return self._text.encode(errors="surrogateescape")
        try:
            return self._file.read_bytes().strip()
        except OSError:
            return b""


def _given(authorization: str) -> bytes:
    """Empty where nothing was, or where it cannot be read."""
    scheme, _, given = authorization.partition(" ")
    if scheme.casefold() == BEARER:
        return given.encode(errors="surrogateescape")
    if scheme.casefold() != BASIC:
        return b""
    try:
        return b64decode(given, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""
