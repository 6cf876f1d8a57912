"""Free ports of the loopback address."""

from __future__ import annotations

import fcntl
import json
import socket
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.errors import SettingsError, TickwrightError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOST = "127.0.0.1"
NEAR = 50
"""Ports that are tried from the preferred one on."""


def free_port(preferred: int) -> int:
    """`preferred`, or another port of the loopback address that nobody listens on now."""
    for port in (preferred, 0):
        if bound := _bound(port):
            return bound
    raise TickwrightError(f"no free port on {HOST}")


def _bound(port: int) -> int:
    """The port that binding to `port` gives, 0 where it is busy."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # As servers do: else the last run is in the way.
        try:
            probe.bind((HOST, port))
        except OSError:
            return 0
        return int(probe.getsockname()[1])


@contextmanager
def claimed_port(preferred: int) -> Iterator[int]:
    """`preferred` or the next free port above it; of several that ask at the same moment, each gets another.

    Between our look and the server's own `bind` some other server could take the port, and we would speak to that one.
    Near the preferred one, since the system gives the ports from 32768 on to anybody's connections.
    """
    with ExitStack() as held:
        yield next(
            (port for port in range(preferred, min(preferred + NEAR, 2**16)) if _claim(port, held)), None
        ) or free_port(0)


def _claim(port: int, held: ExitStack) -> bool:
    """Whether the port is ours until `held` ends."""
    claim = (Path(tempfile.gettempdir()) / f"tickwright-port-{port}").open("a")
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        claim.close()
        return False
    held.enter_context(claim)
    return _bound(port) == port


USUAL = {"port": 7233, "ui_port": 8233, "board_port": 9466}
"""Of Temporal, its Web UI and the board; by the names of the options."""
FILE = "ports.json"


class Ports:
    """The ports of one folder's state: those asked for, else those of the last time, else the usual ones."""

    def __init__(self, state: Path, asked: Mapping[str, int | None] | None = None) -> None:
        self._file, self._asked = state / FILE, asked or {}

    @contextmanager
    def claimed(self, name: str) -> Iterator[int]:
        """A free port, remembered for the next time. Raises SettingsError where the one that was asked for is busy."""
        asked = self._asked.get(name)
        wanted = asked or self._last().get(name) or USUAL[name]
        with claimed_port(wanted) as port:
            if asked and port != asked:
                raise SettingsError(f"--{name.replace('_', '-')} {asked}: the port is busy; give another")
            if port != wanted:
                print(f"port {wanted} is busy, so {port} is taken")
            self._remember(name, port)
            yield port

    def _last(self) -> dict[str, int]:
        try:
            ports = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {name: port for name, port in ports.items() if isinstance(port, int)} if isinstance(ports, dict) else {}

    def _remember(self, name: str, port: int) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps({**self._last(), name: port}) + "\n", encoding="utf-8")
