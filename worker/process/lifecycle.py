"""From start to end of a worker: poll, drain on the first signal, stop at once on the second."""

from __future__ import annotations

import asyncio
import math
import signal
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from activities.contract import STOP_GRACE
from schedules.errors import TickwrightError
from worker.process.signals import listening

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator
    from datetime import timedelta

    from temporalio.worker import Worker

    from worker.health.health import Health
    from worker.process.signals import Ear

LAST_REPORTS = 5.0
"""Seconds that the server has, once no step runs any more, to take the reports about them."""
LAST_TASKS = 1.0
"""Seconds that tasks have which functions of the user left in the loop, once they are cancelled at the very end."""

_T = TypeVar("_T")


class WorkerFailedError(TickwrightError):
    """The worker could not go on, or not end in an orderly way."""


class Stop:
    """The wish to stop: the first signal asks, each further one calls `at_once`, in a thread.

    A further SIGHUP changes nothing: a terminal that closes sends two, its shell's and the kernel's.
    """

    def __init__(
        self, at_once: Callable[[int], None], patience: float = math.inf, overdue: Callable[[], None] = lambda: None
    ) -> None:
        """`overdue` is called, in that thread too, when the block of `on_signals` lasts for `patience` seconds after the wish."""
        self.asked = asyncio.Event()
        self._at_once = at_once
        self._patience, self._overdue = patience, overdue
        self._asked_at: float | None = None
        self._ear: Ear | None = None

    def ask(self) -> None:
        """Asks to stop, from within the loop."""
        self._note()
        self.asked.set()
        if self._ear:
            self._ear.wake()

    def since(self) -> float:
        """Seconds since the first wish; 0 before."""
        return 0.0 if self._asked_at is None else monotonic() - self._asked_at

    @contextmanager
    def on_signals(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """SIGINT, SIGTERM and SIGHUP ask, as long as the context lasts, also while something holds the loop."""

        def heard(number: int) -> None:
            if self._asked_at is not None:
                if number != signal.SIGHUP:
                    self._at_once(number)
                return
            self._note()
            with suppress(RuntimeError):  # Of a loop that has been closed: nobody waits in it any more.
                loop.call_soon_threadsafe(self.asked.set)

        with listening(heard, self._left, self._overdue) as self._ear:
            yield
        self._ear = None

    def _note(self) -> None:
        self._asked_at = self._asked_at or monotonic()

    def _left(self) -> float | None:
        return None if self._asked_at is None or self._patience == math.inf else self._patience - self.since()

    async def unless_asked(self, work: Awaitable[_T]) -> _T | None:
        """The result of `work`; None, with the work cancelled, when asked to stop before it is there."""
        doing, asked = asyncio.ensure_future(work), asyncio.ensure_future(self.asked.wait())
        try:
            await asyncio.wait((doing, asked), return_when=asyncio.FIRST_COMPLETED)
            return await doing if doing.done() else None
        finally:
            doing.cancel()
            asked.cancel()


def run_to_end(work: Coroutine[Any, Any, None], stop: Stop) -> None:
    """Runs `work` in a loop of its own, and waits little for whatever else is left in it: the process is to end next.

    `asyncio.run` would wait for every task and thread of the user's functions. Raises what `work` raises.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    with stop.on_signals(loop):
        try:
            loop.run_until_complete(work)
        finally:
            stop.ask()  # However it came to the end: nothing may hold it now.
            loop.run_until_complete(_cancel_rest())


async def _cancel_rest() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    closing = asyncio.create_task(asyncio.get_running_loop().shutdown_asyncgens())
    await asyncio.wait({*rest, closing}, timeout=LAST_TASKS)


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
        await _drain(worker, running, drain_timeout.total_seconds() + STOP_GRACE + LAST_REPORTS - stop.since())
    try:
        await running
    except RuntimeError as error:  # What the SDK makes of an answer of the server that ends it.
        raise WorkerFailedError(f"the worker cannot go on: {error}") from error
    log.info("stopped", action="worker_stopped")


async def _drain(worker: Worker, running: asyncio.Task[None], limit: float) -> None:
    """Shuts the worker down; a server that hangs could hold it for a minute more, which nobody waits for."""
    shutdown = asyncio.create_task(worker.shutdown())
    await asyncio.wait((running,), timeout=max(limit, 0.0))
    shutdown.cancel()
    if not running.done():
        raise WorkerFailedError(
            "stopped before the server had answered the last reports, or while an activity did not end; "
            "another worker runs these steps again after their heartbeat timeout"
        )
