"""Signals, also while something holds the event loop: a thread hears them."""

from __future__ import annotations

import os
import select
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST_WAIT = 3600.0
"""Seconds; `select` does not take as many as a drain may last."""
_WAKE, _END = 0, 255  # no numbers of signals


@dataclass(frozen=True)
class Ear:
    """Both ends of the pipe into which signals come as bytes; a thread reads it.

    Python's own handlers run between two steps of the main thread, so that a call that does not return keeps them waiting.
    """

    read: int
    write: int

    def wake(self) -> None:
        """Has the listener look at its time again."""
        os.write(self.write, bytes([_WAKE]))

    def handle(self, number: int, _frame: object) -> None:
        """The byte is there already, unless somebody, such as `loop.add_signal_handler`, has taken our place."""
        if signal.set_wakeup_fd(self.write, warn_on_full_buffer=False) != self.write:
            os.write(self.write, bytes([number]))

    def listen(
        self, heard: Callable[[int], None], left: Callable[[], float | None], overdue: Callable[[], None]
    ) -> None:
        """Until told to end, or overdue."""
        while True:
            seconds = left()
            if seconds is not None and seconds <= 0:
                overdue()
                return
            if select.select([self.read], [], [], None if seconds is None else min(seconds, LONGEST_WAIT))[0]:
                numbers = os.read(self.read, 64)
                for number in filter(STOP_SIGNALS.__contains__, numbers):
                    heard(number)
                if _END in numbers:
                    return


@contextmanager
def listening(
    heard: Callable[[int], None], left: Callable[[], float | None], overdue: Callable[[], None]
) -> Iterator[Ear]:
    """While the block lasts, each stop signal is `heard` in a thread; to be entered in the main thread.

    `left` tells the seconds until `overdue` is to be called, None for never.
    """
    ear = Ear(*os.pipe())
    os.set_blocking(ear.write, False)
    thread = Thread(target=ear.listen, args=(heard, left, overdue), name="signals", daemon=True)
    others = signal.set_wakeup_fd(ear.write, warn_on_full_buffer=False)
    before = {number: signal.signal(number, ear.handle) for number in STOP_SIGNALS if not _ignored_by_nohup(number)}
    thread.start()
    try:
        yield ear
    finally:
        signal.set_wakeup_fd(others)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.write(ear.write, bytes([_END]))
        thread.join()
        os.close(ear.write)
        os.close(ear.read)


def _ignored_by_nohup(number: int) -> bool:
    return number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN


def _as_by_default() -> None:
    """In a fork, as of `multiprocessing`, which shares the pipe: what ends it would be heard as a signal to the worker."""
    for number in STOP_SIGNALS:
        if isinstance(getattr(signal.getsignal(number), "__self__", None), Ear):
            signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)


os.register_at_fork(after_in_child=_as_by_default)
