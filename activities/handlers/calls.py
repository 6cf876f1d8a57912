"""Functions of the user under way: each sync one in a thread of its own, each async one in a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TYPE_CHECKING, Any

from activities.contract import STOP_GRACE

if TYPE_CHECKING:
    from activities.steps.attempt import Attempt

_ADVICE = {
    True: "the function still runs in its thread; let it check context.cancelled",
    False: "the function still runs although it was cancelled; let it end at a CancelledError",
}

_Outcome = tuple[Any, BaseException | None]


class Calls:
    """Runs functions and gives up those that do not end with their attempt: no other call waits for their place."""

    def __init__(self) -> None:
        self._given_up: set[asyncio.Future[_Outcome]] = set()

    @property
    def given_up(self) -> int:
        """How many go on by now although their attempt has ended."""
        return len(self._given_up)

    async def in_thread(self, call: Callable[[], Any], attempt: Attempt) -> Any:
        """The function's result. Raises what it raises; cancelled, it is told by `attempt.stopping`."""
        outcome: Future[_Outcome] = Future()
        context = copy_context()
        # The pool of an executor would be used up by functions that hang, and ended with the process only by them.
        Thread(target=lambda: outcome.set_result(context.run(_settle, call)), name="handler", daemon=True).start()
        return await self._end_of(asyncio.wrap_future(outcome), attempt)

    async def on_loop(self, call: Callable[[], Awaitable[Any]], attempt: Attempt) -> Any:
        """The coroutine's result. Raises what it raises; cancelled, it is cancelled too."""
        return await self._end_of(asyncio.create_task(_settle_async(call)), attempt)

    async def _end_of(self, running: asyncio.Future[_Outcome], attempt: Attempt) -> Any:
        """The outcome; STOP_GRACE after a cancellation, whatever comes of it, the function is given up."""
        try:
            result, error = await asyncio.shield(running)
        except asyncio.CancelledError:
            attempt.stopping.set()
            if isinstance(running, asyncio.Task):
                running.cancel()
            try:
                await asyncio.wait({running}, timeout=STOP_GRACE)
            finally:
                if not running.done():
                    self._give_up(running, attempt)
            raise
        if error is not None:
            raise CalledError(error)
        return result

    def _give_up(self, running: asyncio.Future[_Outcome], attempt: Attempt) -> None:
        self._given_up.add(running)
        running.add_done_callback(self._given_up.discard)
        attempt.evidence["still_running"] = _ADVICE[not isinstance(running, asyncio.Task)]


class CalledError(Exception):
    """What a function raised, of whatever kind: by itself, SystemExit would end the loop and a CancelledError this task."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def _settle(call: Callable[[], Any]) -> _Outcome:
    """Result or exception as a value: in a future, StopIteration would hang the loop and SystemExit end it."""
    try:
        return call(), None
    except BaseException as error:  # noqa: BLE001  see above
        return None, error


async def _settle_async(call: Callable[[], Awaitable[Any]]) -> _Outcome:
    try:
        return await call(), None
    except BaseException as error:  # noqa: BLE001  as above
        return None, error
