"""The proxy that the environment names for an address, as curl reads it; credentials from files, such as `~/.netrc`, are never used."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies, proxy_bypass

from yarl import URL

from activities.errors import HandlerError

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTHORIZATION = "Proxy-Authorization"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy without its user and password, which are in `authorization` as a header's value, empty for none."""

    url: URL
    authorization: str = field(default="", repr=False)

    def options(self, target: URL, headers: Mapping[str, str]) -> dict[str, Any]:
        """What aiohttp is given for a request: through a tunnel the proxy is asked by headers of its own."""
        if not self.authorization:
            return {"proxy": self.url, "headers": headers}
        own = {AUTHORIZATION: self.authorization}
        if target.scheme == "https":
            return {"proxy": self.url, "headers": headers, "proxy_headers": own}
        return {"proxy": self.url, "headers": {**headers, **own}}


def proxied(target: URL, headers: Mapping[str, str]) -> dict[str, Any]:
    """Options of aiohttp's `request`: the headers, and the proxy where there is one. Raises HandlerError."""
    proxy = proxy_for(target)
    return {"headers": headers} if proxy is None else proxy.options(target, headers)


def proxy_for(target: URL) -> Proxy | None:
    """What `http_proxy` or `https_proxy` names, unless `no_proxy` names the host. Raises a HandlerError that names the variable.

    It may be tried again: a worker with another environment, or this one restarted, sends the same request.
    """
    text = getproxies().get(target.scheme)
    if not text or proxy_bypass(f"{target.host}:{target.port}"):
        return None
    url = _parsed(text if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text) else f"http://{text}")
    if url.scheme not in {"http", "https"} or not url.host:
        raise HandlerError(
            f"the worker's variable `{_variable(target.scheme)}` is not a usable proxy; "
            "write one like http://proxy.internal:3128",
            kind="proxy",
        )
    if url.user is None and url.password is None:
        return Proxy(url)
    pair = f"{url.user or ''}:{url.password or ''}"
    return Proxy(url.with_user(None), f"Basic {b64encode(pair.encode()).decode()}")


def _variable(scheme: str) -> str:
    wanted = f"{scheme}_proxy"
    return next((name for name in sorted(os.environ, reverse=True) if name.lower() == wanted), wanted)


def _parsed(text: str) -> URL:
    try:
        return URL(text)
    except ValueError:
        return URL()
