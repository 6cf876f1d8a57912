"""Whose requests are answered: one guard for the board, and for /metrics of the monitor and the worker."""

from __future__ import annotations

import os
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from schedules.serve.access import HTTP

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from email.message import Message

    from schedules.serve.access import Token

HOSTS = f"{HTTP}_HOSTS"


@dataclass(frozen=True)
class Refusal:
    """An answer instead of the page."""

    status: int
    text: str
    needs_token: bool = False


class Guard:
    """Asks for the token where there is one; else refuses foreign host names, and requests made by pages of other sites.

    A page of the internet can make its own name stand for a loopback address, and so ask as if it came from there; then the
    browser names that name as Host (DNS rebinding). Where a token is needed that is no use: the browser sends it to no other name.
    """

    def __init__(self, token: Token | None, hosts: Iterable[str] = ()) -> None:
        """`hosts` are names by which it may be asked without a token, besides localhost and plain addresses."""
        self._token = token
        self._hosts = {host.strip().lower().removesuffix(".") for host in hosts} - {""}

    def refusal_of(self, headers: Mapping[str, str] | Message) -> Refusal | None:
        """The same by the headers of a request."""
        names = ("Host", "Authorization", "Sec-Fetch-Site", "Sec-Fetch-Mode")
        return self.refusal(*(headers.get(name, "") for name in names))

    def refusal(self, host: str, authorization: str, site: str, mode: str) -> Refusal | None:
        """The headers Host, Authorization, Sec-Fetch-Site and Sec-Fetch-Mode of a request; None lets it pass.

        Whoever follows a link of another site may come here; that site's scripts may not.
        """
        if site == "cross-site" and mode != "navigate":
            return Refusal(403, "pages of other sites may not ask")
        if self._token is not None:
            return None if self._token.admits(authorization) else Refusal(401, "a token is needed", needs_token=True)
        name = _name(host)
        if name in self._hosts or name == "localhost" or name.endswith(".localhost") or _is_address(name):
            return None
        return Refusal(403, f"not served under this host name: name it in {HOSTS}, or set a token")


def given_hosts(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Names that the environment lists, separated by commas."""
    return environ.get(HOSTS, "").split(",")


def _name(host: str) -> str:
    """A host without the port, and without the dot that may end a whole name."""
    bare = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    return bare.strip("[]").lower().removesuffix(".")


def _is_address(name: str) -> bool:
    """Without a zone, which may be any text."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return "%" not in name
