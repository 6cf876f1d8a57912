"""How long a step waits for its pod to run, and what it waits for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import structlog

from activities.errors import HandlerError
from activities.handlers.kubernetes.state import event_text

if TYPE_CHECKING:
    from activities.handlers.kubernetes.cluster import Object
    from activities.handlers.kubernetes.state import State
    from activities.steps.attempt import Attempt

_log: structlog.stdlib.BoundLogger = structlog.get_logger()
PULL_SECONDS = 120.0
"""For which an image may fail to be pulled: a registry may be away for a while."""
_MARGIN = 0.05
"""The part of the timeout that is left when the wait for a start ends, so that the reason can be told."""


class Pending:
    """The wait of one Job; its reasons are logged as they change."""

    def __init__(self, attempt: Attempt) -> None:
        step = attempt.call.step
        self._most = min(step.start_timeout or step.timeout, step.timeout * (1 - _MARGIN))
        self._began = time.monotonic()
        self._pulling_since: float | None = None
        self._reason = ""

    @property
    def left(self) -> float:
        """Seconds for which it is still waited."""
        return self._began + self._most - time.monotonic()

    def judge(self, state: State, events: list[Object]) -> None:
        """Raises HandlerError where the pod is not going to run, or has been waited for long enough."""
        reason = state.reason or event_text(events)
        if state.pull and self._pulling_since is None:
            self._pulling_since = time.monotonic()
        stuck = self._pulling_since is not None and time.monotonic() - self._pulling_since >= PULL_SECONDS
        if state.permanent or (state.pull and stuck):
            raise HandlerError(f"its pod cannot be started: {reason}", permanent=True, kind="not started")
        self.check(reason)

    def check(self, reason: str) -> None:
        """Raises HandlerError when it has been waited for long enough."""
        if reason and reason != self._reason:
            self._reason = reason
            _log.info("its pod does not run yet", reason=reason)
        if self.left <= 0:
            why = self._reason or "its cluster says no reason"
            raise HandlerError(f"its pod was not started within {self._most:g} s: {why}", kind="not started")
