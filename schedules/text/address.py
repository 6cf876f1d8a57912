"""An address to listen on, as text."""

from __future__ import annotations


def host_and_port(value: str) -> tuple[str, int]:
    """`host:port` as a pair. Raises ValueError."""
    host, colon, port = value.rpartition(":")
    if not (colon and host and port.isdecimal() and int(port) <= 65535):  # noqa: PLR2004 - the highest port
        raise ValueError(f"{value!r} is no address; write host:port, such as 127.0.0.1:9464 (port 0 takes a free one)")
    return host.strip("[]"), int(port)
