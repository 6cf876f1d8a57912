"""Steps of a job. `handler`, `JobContext` and `HandlerError` are what a module with `python` handlers needs.

Loaded on first use, so that `activities.contract` alone stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from activities.context import JobContext, LastSuccess
    from activities.errors import HandlerError
    from activities.registry import handler

__all__ = ["HandlerError", "JobContext", "LastSuccess", "handler"]

_HOMES = {
    "HandlerError": "activities.errors",
    "JobContext": "activities.context",
    "LastSuccess": "activities.context",
    "handler": "activities.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
