"""The models of the spec format, for jobs written in Python. Loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedules.spec.alerts import AlertsSpec
    from schedules.spec.catch_up import CatchUpSpec
    from schedules.spec.handlers import CommandSpec, HttpSpec, PythonSpec, RunSpec, WorkflowSpec
    from schedules.spec.job import (
        AtEntry,
        BusinessDayEntry,
        CalendarEntry,
        CronEntry,
        DstSpec,
        EveryEntry,
        JobSpec,
        LintSpec,
        ScheduleEntry,
    )
    from schedules.spec.notices import ChannelSpec, OnFailureSpec, OnMissedSpec, PauseAfterSpec, WebhookSpec
    from schedules.spec.retry import RetrySpec
    from schedules.spec.steps import CompensateSpec, StepSpec

__all__ = [
    "AlertsSpec",
    "AtEntry",
    "BusinessDayEntry",
    "CalendarEntry",
    "CatchUpSpec",
    "ChannelSpec",
    "CommandSpec",
    "CompensateSpec",
    "CronEntry",
    "DstSpec",
    "EveryEntry",
    "HttpSpec",
    "JobSpec",
    "LintSpec",
    "OnFailureSpec",
    "OnMissedSpec",
    "PauseAfterSpec",
    "PythonSpec",
    "RetrySpec",
    "RunSpec",
    "ScheduleEntry",
    "StepSpec",
    "WebhookSpec",
    "WorkflowSpec",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("schedules.spec.job"), name)
