"""The models of the spec format, for jobs written in Python. Loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedules.spec.alerts import AlertsSpec
    from schedules.spec.calendars import CalendarSpec
    from schedules.spec.catch_up import CatchUpSpec
    from schedules.spec.entries import AtEntry, BusinessDayEntry, CalendarEntry, CronEntry, EveryEntry, ScheduleEntry
    from schedules.spec.handlers import RunSpec
    from schedules.spec.job import DstSpec, JobSpec, LintSpec
    from schedules.spec.kinds.command import CommandSpec
    from schedules.spec.kinds.container import ContainerSpec
    from schedules.spec.kinds.http import HttpSpec
    from schedules.spec.kinds.kubernetes import KubernetesSpec
    from schedules.spec.kinds.python import PythonSpec
    from schedules.spec.kinds.sql import SqlSpec
    from schedules.spec.kinds.workflow import WorkflowSpec
    from schedules.spec.notices import ChannelSpec, OnFailureSpec, OnMissedSpec, PauseAfterSpec, WebhookSpec
    from schedules.spec.retry import RetrySpec
    from schedules.spec.steps import CompensateSpec, StepSpec

__all__ = [
    "AlertsSpec",
    "AtEntry",
    "BusinessDayEntry",
    "CalendarEntry",
    "CalendarSpec",
    "CatchUpSpec",
    "ChannelSpec",
    "CommandSpec",
    "CompensateSpec",
    "ContainerSpec",
    "CronEntry",
    "DstSpec",
    "EveryEntry",
    "HttpSpec",
    "JobSpec",
    "KubernetesSpec",
    "LintSpec",
    "OnFailureSpec",
    "OnMissedSpec",
    "PauseAfterSpec",
    "PythonSpec",
    "RetrySpec",
    "RunSpec",
    "ScheduleEntry",
    "SqlSpec",
    "StepSpec",
    "WebhookSpec",
    "WorkflowSpec",
]

_HOMES = {
    "AlertsSpec": "schedules.spec.alerts",
    "AtEntry": "schedules.spec.entries",
    "BusinessDayEntry": "schedules.spec.entries",
    "CalendarEntry": "schedules.spec.entries",
    "CalendarSpec": "schedules.spec.calendars",
    "CatchUpSpec": "schedules.spec.catch_up",
    "ChannelSpec": "schedules.spec.notices",
    "CommandSpec": "schedules.spec.kinds.command",
    "CompensateSpec": "schedules.spec.steps",
    "ContainerSpec": "schedules.spec.kinds.container",
    "CronEntry": "schedules.spec.entries",
    "DstSpec": "schedules.spec.job",
    "EveryEntry": "schedules.spec.entries",
    "HttpSpec": "schedules.spec.kinds.http",
    "JobSpec": "schedules.spec.job",
    "KubernetesSpec": "schedules.spec.kinds.kubernetes",
    "LintSpec": "schedules.spec.job",
    "OnFailureSpec": "schedules.spec.notices",
    "OnMissedSpec": "schedules.spec.notices",
    "PauseAfterSpec": "schedules.spec.notices",
    "PythonSpec": "schedules.spec.kinds.python",
    "RetrySpec": "schedules.spec.retry",
    "RunSpec": "schedules.spec.handlers",
    "ScheduleEntry": "schedules.spec.entries",
    "SqlSpec": "schedules.spec.kinds.sql",
    "StepSpec": "schedules.spec.steps",
    "WebhookSpec": "schedules.spec.notices",
    "WorkflowSpec": "schedules.spec.kinds.workflow",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
