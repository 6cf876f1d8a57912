"""Commands that start as copies of a process that has imported the product: a tenth of the processor time of a new interpreter."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVER = Path(__file__).with_name("fork_server.py")
ROOM = 2**14
"""Bytes for the variables of a request, where the system shows those of a process."""
LIMIT = 2**24


class ForkedProcess:
    """As much of `asyncio.subprocess.Process` as tests ask for."""

    def __init__(
        self, pid: int, answers: socket.socket, stdout: asyncio.StreamReader, stderr: asyncio.StreamReader
    ) -> None:
        self.pid, self.stdout, self.stderr = pid, stdout, stderr
        self.returncode: int | None = None
        self._ending = asyncio.create_task(self._end(answers))

    async def wait(self) -> int:
        """The exit code, negative for a signal."""
        return await asyncio.shield(self._ending)

    async def communicate(self) -> tuple[bytes, bytes]:
        """All that it writes, once it has ended."""
        stdout, stderr = await asyncio.gather(self.stdout.read(), self.stderr.read())
        await self.wait()
        return stdout, stderr

    def send_signal(self, number: int) -> None:
        """Raises ProcessLookupError once it has ended."""
        if self.returncode is not None:
            raise ProcessLookupError
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    async def _end(self, answers: socket.socket) -> int:
        with answers:
            self.returncode = await _answer(answers)
        return self.returncode


async def fork_module(module: str, *arguments: str, environ: Mapping[str, str], cwd: Path) -> ForkedProcess:
    """`python -m <module> <arguments>` with these variables and nothing to read."""
    request = {"module": module, "arguments": arguments, "environ": dict(environ), "cwd": _absolute(cwd)}
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    pipes = [os.pipe(), os.pipe()]
    socket.send_fds(_server(), [json.dumps(request).encode()], [*(end for _, end in pipes), theirs.fileno()])
    theirs.close()
    for _, end in pipes:
        os.close(end)
    stdout, stderr = [await _reading(begin) for begin, _ in pipes]
    return ForkedProcess(await _answer(ours), ours, stdout, stderr)


def _absolute(folder: Path) -> str:
    return str(folder.absolute())


async def _answer(answers: socket.socket) -> int:
    return int(await asyncio.get_running_loop().sock_recv(answers, 64))


async def _reading(fd: int) -> asyncio.StreamReader:
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), open(fd, "rb", 0))  # noqa: ASYNC230, SIM115
    return reader


@cache
def _server() -> socket.socket:
    """The way to a process that forks, which ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"ROOM": "." * ROOM}
    process = subprocess.Popen(
        [sys.executable, SERVER, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env=environ,
        stdin=subprocess.DEVNULL,
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
