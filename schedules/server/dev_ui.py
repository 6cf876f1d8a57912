"""The Web UI of the server that `tickwright dev` runs from the current folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from temporalio.client import Client

PORTS = Path(".tickwright") / "ports.json"
"""What `dev` remembers of its ports."""
LOOPBACK = frozenset({"127.0.0.1", "localhost"})


def ui_of_dev(client: Client) -> str:
    """Its address where the client is connected to that server; else empty."""
    host, _, port = client.service_client.config.target_host.rpartition(":")
    try:
        ports = json.loads(PORTS.read_text(encoding="utf-8"))
        same = host in LOOPBACK and ports["port"] == int(port)
        return f"http://127.0.0.1:{int(ports['ui_port'])}" if same else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""
