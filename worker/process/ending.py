"""The end of a worker's process that does not wait for what holds it."""

from __future__ import annotations

import os
from threading import Thread
from typing import TYPE_CHECKING

from activities.contract import STOP_GRACE
from schedules.console.terminal import leave, say
from worker.process.lifecycle import LAST_REPORTS, LAST_TASKS, Stop

if TYPE_CHECKING:
    from worker.settings import WorkerSettings

AFTER_DRAIN = STOP_GRACE + LAST_REPORTS + 2 * LAST_TASKS
"""Seconds after the drain in which the process has ended, whatever holds it."""
LAST_WORDS = 1.0
"""Seconds for what is still in a buffer."""


def stop_of(settings: WorkerSettings) -> Stop:
    """A worker's wish to stop, which a second signal, or a function that holds the loop, turns into its end at once."""
    return Stop(stop_at_once, settings.drain_timeout.total_seconds() + AFTER_DRAIN, give_up)


def stop_at_once(number: int) -> None:
    """The second signal: what runs is given up; Temporal gives it to another worker after its heartbeat timeout."""
    _leave_soon(128 + number)


def give_up() -> None:
    """Something holds the event loop, or whatever else was to end in order does not."""
    _leave_soon(1, "stopped while a function held the event loop; another worker runs its steps again")


def _leave_soon(code: int, message: str = "") -> None:
    """Ends the process; whoever holds a stream, such as a write to a full pipe, does not hold it for long."""

    def leave_in_order() -> None:
        if message:
            say(message)
        leave(code)

    last = Thread(target=leave_in_order, daemon=True)
    last.start()
    last.join(LAST_WORDS)
    os._exit(code)
