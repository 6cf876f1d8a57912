"""Who may read the board, and what its pages let a browser do."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedules.serve.access import Token

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""On every answer: scripts and styles are files of the board's own, and nothing else is loaded from anywhere."""
CHALLENGES = ("Bearer", 'Basic realm="Tickwright board: the token is the password", charset="UTF-8"')


@dataclass(frozen=True)
class Refusal:
    """An answer instead of the page."""

    status: int
    text: str


class Guard:
    """Asks for the token where there is one; else refuses foreign host names, and requests made by pages of other sites.

    A page of the internet can make its own name stand for a loopback address, and so ask as if it came from there; then the
    browser names that name as Host (DNS rebinding). Where a token is needed that is no use: the browser sends it to no other name.
    """

    def __init__(self, token: Token | None, hosts: frozenset[str] = frozenset()) -> None:
        """`hosts` are in lower case, without a dot at the end."""
        self._token = token
        self._hosts = hosts

    def refusal(self, host: str, authorization: str, site: str, mode: str) -> Refusal | None:
        """The headers Host, Authorization, Sec-Fetch-Site and Sec-Fetch-Mode of a request; None lets it pass.

        Whoever follows a link of another site may come here; that site's scripts may not.
        """
        if site == "cross-site" and mode != "navigate":
            return Refusal(403, "pages of other sites may not ask")
        if self._token is not None:
            return None if self._token.admits(authorization) else Refusal(401, "a token is needed")
        name = _name(host)
        if name in self._hosts or name == "localhost" or name.endswith(".localhost") or _is_address(name):
            return None
        return Refusal(403, "not served under this host name: start the board with --host NAME, or with a token")


def _name(host: str) -> str:
    """Without the port, and without the dot that may end a whole name."""
    bare = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    return bare.strip("[]").lower().removesuffix(".")


def _is_address(name: str) -> bool:
    """Without a zone, which may be any text."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return "%" not in name
