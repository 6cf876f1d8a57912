"""What SIGINT, SIGTERM and SIGHUP do while a command waits for others.

One that asks is cancelled, one that writes finishes what is under way, one that serves stops, one that runs a program hands them on.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from schedules.console.terminal import STDOUT, leave, say
from schedules.errors import TickwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

ENDING = (signal.SIGINT, signal.SIGTERM)
SIGNALS = (*ENDING, signal.SIGHUP)
AT_ONCE = "interrupted twice; changes in progress may be done or not: run the sync again"
Found = TypeVar("Found")


class SignalledError(TickwrightError):
    """A signal ended the command, before it wrote anything unless `what` says otherwise."""

    def __init__(self, number: int, what: str = "nothing was changed") -> None:
        super().__init__(f"interrupted; {what}")
        self.exit_code = 128 + number


async def unless_interrupted(work: Coroutine[Any, Any, Found], what: str = "nothing was changed") -> Found:
    """What the work gives. Raises SignalledError once a signal has cancelled it and it has come to its end.

    A second signal does what signals did before: it ends the process at once.
    """
    task, caught = asyncio.ensure_future(work), list[int]()

    def cancel(number: int) -> None:
        caught.append(number)
        task.cancel()

    with _first_signal(cancel):
        try:
            return await task
        except asyncio.CancelledError:
            if caught:
                raise SignalledError(caught[0], what) from None
            raise


def stop_on_signals(at_once: str = AT_ONCE) -> tuple[asyncio.Event, list[int]]:
    """An event that signals set, and the signals caught: what is under way is finished, so that it is known.

    The second signal ends the process with the words `at_once`: a server that hangs can keep what is under way for most of a minute.
    A further SIGHUP changes nothing: a terminal that closes sends two, its shell's and the kernel's.
    """
    stop, caught = asyncio.Event(), list[int]()

    def on_signal(number: int) -> None:
        if caught and number == signal.SIGHUP:
            return
        if caught:
            say(at_once)
            STDOUT.answer_error(at_once)
            leave(128 + number)
        caught.append(number)
        stop.set()

    for number in _heeded():
        asyncio.get_running_loop().add_signal_handler(number, on_signal, number)
    return stop, caught


async def until_told_to_stop(work: Coroutine[None, None, None]) -> None:
    """Does the work until it ends by itself, or SIGINT or SIGTERM comes."""
    stop = asyncio.Event()
    for number in ENDING:
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    done, pending = await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.wait(pending)
    if working in done:
        await working


def hand_on_signals(send: Callable[[int], None]) -> None:
    """Every signal goes to somebody else instead, as to the program that a command runs."""
    for number in SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, send, number)


def _heeded() -> list[signal.Signals]:
    """Without SIGHUP under `nohup`, which has it ignored."""
    return [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP]


@contextmanager
def _first_signal(act: Callable[[int], None]) -> Iterator[None]:
    """The first signal within the block acts in the loop; the handlers before it are there again for the next, and after it."""
    loop = asyncio.get_running_loop()

    def handle(number: int, _frame: object) -> None:
        restore()
        loop.call_soon_threadsafe(act, number)

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.getsignal(number) for number in _heeded()}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()
