"""A command at a terminal of its own, as a person sees it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import struct
import sys
import termios
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import uuid4

from tests.processes import PATIENCE, environment, kill_marked

ROWS, COLUMNS = 50, 160
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen:
    """What a command has written to its terminal."""

    def __init__(self, terminal: int, process: asyncio.subprocess.Process, mark: str) -> None:
        self._terminal, self.process, self.mark = terminal, process, mark
        self.raw = ""
        os.set_blocking(terminal, False)
        asyncio.get_running_loop().add_reader(terminal, self._read)

    @property
    def text(self) -> str:
        """All that was shown, without colours and movements of the cursor."""
        return CONTROLS.sub("", self.raw)

    def press_ctrl_c(self) -> None:
        os.write(self._terminal, b"\x03")

    async def until(self, holds: Callable[[], object], timeout: float = PATIENCE) -> None:
        """Waits until it holds. Raises AssertionError with what was shown last."""
        try:
            async with asyncio.timeout(timeout):
                while not holds():  # noqa: ASYNC110 - what it waits for is another process
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"not shown: {self.text[-3000:]}") from None

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._terminal)
        os.close(self._terminal)

    def _read(self) -> None:
        with suppress(OSError):  # Linux says so when the other end is closed.
            self.raw += os.read(self._terminal, 65536).decode(errors="replace")


@asynccontextmanager
async def at_terminal(
    module: str, *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> AsyncIterator[Screen]:
    """`python -m <module> <arguments>` as the foreground of a new terminal; it is killed when the block ends."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    mark = uuid4().hex
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *map(str, arguments)),
        env={**environment({"TERM": "xterm-256color", **(env or {})}, mark), "COLUMNS": str(COLUMNS)},
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    screen = Screen(ours, process, mark)
    try:
        yield screen
    finally:
        kill_marked(mark)
        await process.wait()
        screen.close()
