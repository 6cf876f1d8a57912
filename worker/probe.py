"""`python -m worker.probe [PATH]`: whether what listens at TICKWRIGHT_HTTP_ADDRESS in this container says that it is well."""

from __future__ import annotations

import os
import sys
from http.client import HTTPConnection, HTTPException

from schedules.text.address import host_and_port

ADDRESS, USUAL_ADDRESS = "TICKWRIGHT_HTTP_ADDRESS", "127.0.0.1:9464"
SECONDS = 4
OK = 200


def trouble(path: str, address: str) -> str:
    """What is wrong, in a line; empty for nothing. No proxy is asked, and the address of all interfaces leads to this machine."""
    try:
        host, port = host_and_port(address)
        connection = HTTPConnection(host, port, timeout=SECONDS)
        connection.request("GET", path)
        answer = connection.getresponse()
        said = answer.read().decode(errors="replace").strip()
    except (OSError, ValueError, HTTPException) as error:
        return f"{address}: {error}"
    return "" if answer.status == OK else f"{address}{path}: {answer.status} {said}"


if __name__ == "__main__":
    sys.exit(trouble((sys.argv[1:] or ["/livez"])[0], os.environ.get(ADDRESS, USUAL_ADDRESS)) or 0)
