"""Processes that cannot outlive the one that starts them: each runs under `guard.py`."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GUARD = Path(__file__).with_name("guard.py")
_REAP_SECONDS = 0.005


class SpawnError(OSError):
    """The guard could not start the program; `errno` says why."""


class GuardedProcess:
    """A program under guard: `stop`, `close` and any death of this process end it with its process group.

    `asyncio.subprocess` is not used because it kills the guard with SIGKILL when it gives up on it.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        grace: float,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdout: int | IO[bytes] = subprocess.DEVNULL,
        stderr: int | IO[bytes] = subprocess.DEVNULL,
    ) -> None:
        """Start it; `grace` is seconds from SIGTERM to SIGKILL.

        Raises OSError for a bad `cwd` (its `filename`) and for a lack of resources.
        """
        self._line, far_end = socket.socketpair()
        self._line.settimeout(0)
        self._told = b""
        try:
            self._guard = subprocess.Popen(  # noqa: S603 - what to run is the point
                [sys.executable, "-I", "-S", str(_GUARD), str(far_end.fileno()), str(grace), *argv],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=cwd,
                env=env,
                pass_fds=(far_end.fileno(),),
                start_new_session=True,
            )
        except BaseException:
            self._line.close()
            raise
        finally:
            far_end.close()

    @property
    def stdout(self) -> IO[bytes] | None:
        """The pipe, when `stdout` was `subprocess.PIPE`."""
        return self._guard.stdout

    @property
    def stderr(self) -> IO[bytes] | None:
        """The pipe, when `stderr` was `subprocess.PIPE`."""
        return self._guard.stderr

    async def wait(self) -> int:
        """The exit code, or minus the signal that ended it; the whole group has ended then. Raises SpawnError."""
        loop = asyncio.get_running_loop()
        with suppress(ConnectionError):
            while chunk := await loop.sock_recv(self._line, 512):
                self._told += chunk
        while (code := self._guard.poll()) is None:  # noqa: ASYNC110  a process has no event to wait for
            await asyncio.sleep(_REAP_SECONDS)  # The line has ended, so the guard is just about to.
        lines = [line.split() for line in self._told.decode().splitlines()]
        facts = {line[0]: int(line[1]) if len(line) > 1 else 0 for line in lines}
        if "failed" in facts:
            raise SpawnError(facts["failed"], os.strerror(facts["failed"]))
        if "started" in facts and "ended" not in facts:
            # The guard itself was killed, so its work is done here.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(facts["started"], signal.SIGKILL)
        return code

    def stop(self) -> None:
        """Ask the guard to end the group: SIGTERM, then SIGKILL after the grace. `wait` tells when that is done."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Let go of it; what still runs is ended by the guard."""
        self.stop()
        self._line.close()
        for pipe in (self._guard.stdout, self._guard.stderr):
            if pipe is not None:
                pipe.close()

    def end(self, timeout: float) -> None:
        """Let go of it and wait until it has ended. Raises subprocess.TimeoutExpired."""
        self.close()
        self._guard.wait(timeout)
