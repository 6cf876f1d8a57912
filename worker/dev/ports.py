"""Free ports of the loopback address."""

from __future__ import annotations

import fcntl
import socket
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.errors import TickwrightError

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"


def free_port(preferred: int) -> int:
    """`preferred`, or another port of the loopback address that nobody listens on now."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(
                socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
            )  # As servers do: else the last run is in the way.
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise TickwrightError(f"no free port on {HOST}")


@contextmanager
def claimed_port(preferred: int) -> Iterator[int]:
    """A free port; of several that ask for the same one at the same moment, one alone gets it.

    Between our look and the server's own `bind` some other server could take the port, and we would speak to that one.
    """
    claim = Path(tempfile.gettempdir()) / f"tickwright-port-{preferred}"
    with ExitStack() as held:
        try:
            fcntl.flock(held.enter_context(claim.open("a")), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            preferred = 0
        yield free_port(preferred)
