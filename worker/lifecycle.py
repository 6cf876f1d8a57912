"""From start to end of a worker: poll, drain on the first signal, stop at once on the second."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import structlog

from activities.contract import STOP_GRACE
from schedules.errors import TickwrightError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from datetime import timedelta

    from temporalio.worker import Worker

    from worker.health import Health

LAST_REPORTS = 5.0
"""Seconds that the server has, once no step runs any more, to take the reports about them."""
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_T = TypeVar("_T")


class WorkerFailedError(TickwrightError):
    """The worker could not go on, or not end in an orderly way."""


class Stop:
    """The wish to stop: the first signal asks, each further one calls `at_once`."""

    def __init__(self, at_once: Callable[[int], None]) -> None:
        self.asked = asyncio.Event()
        self._at_once = at_once

    def ask(self, number: int = 0) -> None:
        """Asks to stop; a second signal no longer asks."""
        if self.asked.is_set() and number:
            self._at_once(number)
        self.asked.set()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM ask, as long as the context lasts."""
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self.ask, number)
        try:
            yield
        finally:
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)

    async def unless_asked(self, work: Awaitable[_T]) -> _T | None:
        """The result of `work`; None, with the work cancelled, when asked to stop before it is there."""
        doing, asked = asyncio.ensure_future(work), asyncio.ensure_future(self.asked.wait())
        try:
            await asyncio.wait((doing, asked), return_when=asyncio.FIRST_COMPLETED)
            return await doing if doing.done() else None
        finally:
            doing.cancel()
            asked.cancel()


async def poll_until_stopped(worker: Worker, health: Health, stop: Stop, drain_timeout: timedelta) -> None:
    """Runs the worker until asked to stop, then drains it.

    Raises WorkerFailedError when it ends by itself, and when the server does not take its last reports.
    """
    log = structlog.get_logger()
    running = asyncio.create_task(worker.run())
    asked = asyncio.create_task(stop.asked.wait())
    health.state = "polling"
    log.info("polling", action="worker_started", task_queue=worker.task_queue)
    await asyncio.wait((running, asked), return_when=asyncio.FIRST_COMPLETED)
    health.state = "draining"
    asked.cancel()
    if not running.done():
        log.info("draining: no new work is taken", action="worker_draining")
        await _drain(worker, running, drain_timeout.total_seconds() + STOP_GRACE + LAST_REPORTS)
    try:
        await running
    except RuntimeError as error:  # What the SDK makes of an answer of the server that ends it.
        raise WorkerFailedError(f"the worker cannot go on: {error}") from error
    log.info("stopped", action="worker_stopped")


async def _drain(worker: Worker, running: asyncio.Task[None], limit: float) -> None:
    """Shuts the worker down; a server that hangs could hold it for a minute more, which nobody waits for."""
    shutdown = asyncio.create_task(worker.shutdown())
    await asyncio.wait((running,), timeout=limit)
    shutdown.cancel()
    if not running.done():
        raise WorkerFailedError(
            f"stopped after {limit:g} s without the server's answer to the last reports; "
            "it gives the steps concerned to another worker after their heartbeat timeout"
        )
