"""Runs a command as if nothing stood around it: its streams pass through, the ends of its outputs are kept, signals reach it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic

from schedules.console.signals import hand_on_signals

KEPT = 8 * 1024
"""Bytes of each output that are kept."""


@dataclass(frozen=True, slots=True)
class Passed:
    """How the command ended: its exit code (negative for a signal), the ends of its outputs, and its duration in seconds."""

    exit_code: int
    stdout: str
    stderr: str
    duration: float


async def pass_through(argv: Sequence[str], stop: asyncio.Event) -> Passed:
    """Runs the command to its end, which SIGTERM asks for once `stop` is set. Raises OSError where it cannot be started."""
    began = monotonic()
    process = await asyncio.create_subprocess_exec(
        *argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    hand_on_signals(partial(_send, process))
    stopping = asyncio.ensure_future(_terminate(process, stop))
    outputs = await asyncio.gather(_pump(process.stdout, 1), _pump(process.stderr, 2))
    code = await process.wait()
    stopping.cancel()
    stdout, stderr = (each.decode(errors="replace") for each in outputs)
    return Passed(code, stdout, stderr, round(monotonic() - began, 3))


def _send(process: asyncio.subprocess.Process, number: int) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)


async def _terminate(process: asyncio.subprocess.Process, stop: asyncio.Event) -> None:
    await stop.wait()
    _send(process, signal.SIGTERM)


async def _pump(source: asyncio.StreamReader | None, descriptor: int) -> bytes:
    """Writes what comes on to our own stream, and keeps its end."""
    kept = b""
    if source is None:
        return kept
    (sys.stdout if descriptor == 1 else sys.stderr).flush()
    while data := await source.read(64 * 1024):
        kept = (kept + data)[-KEPT:]
        view = memoryview(data)
        with suppress(OSError):  # nobody reads it any more: the command goes on
            while view:
                view = view[os.write(descriptor, view) :]
    return kept
