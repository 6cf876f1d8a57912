"""What containers and Jobs have in common: they outlive the worker that started them, and the next attempt goes on with them."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from temporalio import activity

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from activities.steps.attempt import Attempt

KEY = "tickwright.key"
"""The label or annotation that holds the idempotency key."""
KEPT_AFTER_END = 10.0
"""Seconds for which what has ended stays: a worker that dies before the server has the result finds it."""


def name_of(key: str, failures: int = 0) -> str:
    """The one name of what a step has started, whoever starts it; after each failure a new one, with `-2`, `-3` and so on."""
    name = f"tickwright-{sha256(key.encode()).hexdigest()[:32]}"
    return f"{name}-{failures + 1}" if failures else name


def last_of(attempt: Attempt) -> dict[str, Any]:
    """What an earlier attempt has left for this one."""
    return attempt.last_heartbeat if isinstance(attempt.last_heartbeat, dict) else {}


def goes_on_elsewhere() -> bool:
    """Whether the attempt ends here for a reason that says nothing about the job: a drain, a lost heartbeat."""
    why = activity.cancellation_details()
    return activity.is_worker_shutdown() if why is None else not why.cancel_requested


class Afterwards:
    """What a handler does a while after its steps have ended."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def later(self, action: Coroutine[Any, Any, None], seconds: float) -> None:
        """Do it then."""
        task = asyncio.get_running_loop().create_task(_after(action, seconds))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _after(action: Coroutine[Any, Any, None], seconds: float) -> None:
    try:
        await asyncio.sleep(seconds)
        await action
    finally:
        action.close()  # It may never have begun.
