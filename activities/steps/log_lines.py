"""The log lines of an attempt, kept for whoever looks at what it did."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any

from activities.steps.kept import Kept

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from activities.steps.redact import Redactor

_OWN = frozenset(
    {"event", "timestamp", "level", "logger", "exception", "job", "scheduled_time", "run_id", "step", "attempt"}
)
"""Fields that stand elsewhere in a line, or in what the line belongs to."""


class LogLines:
    """The lines of one attempt, from any of its threads and tasks."""

    def __init__(self) -> None:
        self._kept = Kept()
        self._changes = Lock()

    def add(self, line: str) -> None:
        """Add a line, or several."""
        with self._changes:
            self._kept.add(f"{line}\n".encode(errors="replace"))

    def text(self, redactor: Redactor) -> str:
        """All lines, or the first and the last of many; empty without any."""
        with self._changes:
            return self._kept.text(redactor)

    def end(self, redactor: Redactor, size: int) -> str:
        """The last `size` bytes."""
        with self._changes:
            return self._kept.end(redactor, size)


_current: ContextVar[LogLines | None] = ContextVar("log_lines", default=None)


def use_log_lines(lines: LogLines) -> None:
    """Let `keep_line` add to `lines` in this task and in the threads and tasks that copy its context."""
    _current.set(lines)


def keep_line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Structlog processor: adds a line of the running attempt to its lines, but for the worker's own (those with an `action`).

    Belongs after `redact_event` and before the renderer.
    """
    lines = _current.get()
    if lines is not None and "action" not in event:
        lines.add(_text(event))
    return event


def _text(event: MutableMapping[str, Any]) -> str:
    fields = " ".join(f"{name}={value}" for name, value in event.items() if name not in _OWN)
    at = str(event.get("timestamp", ""))[11:19]
    first = " ".join(part for part in (at, str(event.get("level", "")), str(event.get("event", "")), fields) if part)
    error = event.get("exception")
    return first if error is None else f"{first}\n{error}"
