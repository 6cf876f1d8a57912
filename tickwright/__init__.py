"""What code and tests of yours import; everything else is internal. Loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from activities.context import JobContext
    from activities.errors import HandlerError
    from activities.idempotency import once
    from activities.registry import handler
    from schedules.project import JobSet
    from schedules.spec.job import JobSpec
    from schedules.spec.kinds.kind import KindSpec
    from worker.testkit import Call, Fault, TestKit

__all__ = ["Call", "Fault", "HandlerError", "JobContext", "JobSet", "JobSpec", "KindSpec", "TestKit", "handler", "once"]

_HOMES = {
    "Call": "worker.testkit",
    "Fault": "worker.testkit",
    "HandlerError": "activities.errors",
    "JobContext": "activities.context",
    "JobSet": "schedules.project",
    "JobSpec": "schedules.spec.job",
    "KindSpec": "schedules.spec.kinds.kind",
    "TestKit": "worker.testkit",
    "handler": "activities.registry",
    "once": "activities.idempotency",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tickwright.own_packages import load_own_packages

    load_own_packages()
    return getattr(import_module(_HOMES[name]), name)
