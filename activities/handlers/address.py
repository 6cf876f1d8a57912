"""The address of a request: as it is sent, and as people are shown it, since the resolved one holds secrets. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from yarl import URL

if TYPE_CHECKING:
    from collections.abc import Iterator

_USER = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*:)?//[^/]*@|^[^/:@]*:[^/@]*@")
_SECRET = re.compile(r"\$\{secret:[^{}]*\}")
_LEAST = 3
"""Characters; what is shorter is no secret that could be told from other text."""


_TARGET = re.compile(r"[^:/?#]+://[^/?#]*([^#]*)")
_LEGAL = "-._~:/?[]@!$&'()*+,;=%"
"""Beside letters and digits: what may stand in a request's target, RFC 3986, section 2."""


def as_written(text: str) -> URL:
    """An absolute http or https address, whose path and query are sent character by character as they are written.

    Only what may not stand in a request at all is percent-encoded. Raises ValueError without a host.
    """
    url = URL(text)
    found = _TARGET.match(text)
    if url.scheme not in {"http", "https"} or not url.host or found is None:
        raise ValueError("not an address like https://host/path")
    target = quote(found[1], safe=_LEGAL)
    if not target.startswith("/"):
        target = f"/{target}"
    # All of it as the path: yarl takes an empty query away.
    return URL.build(scheme=url.scheme, authority=url.raw_authority, path=target, encoded=True)


def shown_address(text: str) -> str:
    """`text` without user, password, query and fragment, where credentials travel."""
    plain = re.split(r"[?#]", text, maxsplit=1)[0]
    return _USER.sub(lambda found: f"{found[1] or ''}//" if "//" in found[0] else "", plain) + (
        "?…" if "?" in text else ""
    )


def shown_location(location: str) -> str:
    """The target of a redirect."""
    url = _parsed(location)
    if url == URL():
        return "no valid Location"
    return shown_address(location) if url.absolute else url.path


def disguises(url: URL, written: str) -> Iterator[str]:
    """Parts of the resolved address, as libraries and services spell them, that come from the secrets in `written`."""
    known = _parts(_parsed(_SECRET.sub("secret", written)))
    yield from (part for part in sorted(_parts(url) - known) if len(part) >= _LEAST and part not in written)


def _parts(url: URL) -> set[str]:
    whole = {str(url), url.host, url.raw_host, url.authority, url.raw_authority, url.path, url.raw_path}
    query = {url.query_string, url.raw_query_string, *url.query.values()}
    return {part for part in (*whole, *query, *url.parts, *url.raw_parts) if part}


def _parsed(text: str) -> URL:
    try:
        return URL(text)
    except ValueError:
        return URL()
