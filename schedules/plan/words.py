"""Values as the spec file writes them. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from schedules.plan.differences import FieldDiff
from schedules.text.duration import format_duration

DURATIONS = frozenset(
    {
        "timeout",
        "heartbeat_timeout",
        "start_timeout",
        "execution_timeout",
        "run_timeout",
        "task_timeout",
        "deadline",
        "start_deadline",
        "jitter",
        "initial",
        "max",
        "catchup_window",
        "remind_every",
        "retry_every",
        "grace",
        "paused_for",
    }
)


def in_words(field: str, before: Any, after: Any) -> FieldDiff:
    """A field of the file and its values, seconds as a duration where it is one."""
    return FieldDiff(field, in_word(field, before), in_word(field, after))


def in_word(field: str, value: Any) -> Any:
    """One value of the field."""
    if field.rpartition(".")[2] not in DURATIONS or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return format_duration(timedelta(seconds=value)) if value == int(value) else f"{value}s"
