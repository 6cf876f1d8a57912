"""Schedules as values: what a spec compiles to and what the server answers, in the server's own normal form.

Every number is an integer and every duration whole seconds, so that desired == observed is a plain comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from activities.overlap import Overlap
from schedules.recurrence import (
    EVERY_DAY,
    EVERY_HOUR,
    EVERY_MINUTE,
    EVERY_MONTH,
    EVERY_SECOND,
    EVERY_WEEKDAY,
    ZERO,
    Calendar,
    Interval,
    Range,
    Ranges,
    Times,
)

__all__ = [
    "EVERY_DAY",
    "EVERY_HOUR",
    "EVERY_MINUTE",
    "EVERY_MONTH",
    "EVERY_SECOND",
    "EVERY_WEEKDAY",
    "ZERO",
    "Action",
    "Activity",
    "Calendar",
    "DesiredSchedule",
    "Interval",
    "ListedSchedule",
    "ObservedSchedule",
    "Policies",
    "Range",
    "Ranges",
    "Retry",
    "RuntimeState",
    "Times",
    "Unsaid",
]


@dataclass(frozen=True, slots=True)
class Retry:
    """The server's own retry policy of a started workflow; intervals in milliseconds."""

    max_attempts: int = 0
    initial_ms: int = 1_000
    coefficient: float = 2.0
    max_ms: int = 100_000
    non_retryable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """The workflow that an occurrence starts. `args` and the values of `memo` are JSON values; timeouts are seconds, 0 for none.

    The run's workflow id is `workflow_id` and the scheduled time; an empty one stands for the schedule's own id.
    """

    workflow_type: str
    task_queue: str
    args: tuple[Any, ...]
    search_attributes: Mapping[str, Any] = field(default_factory=dict)
    memo: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""
    details: str = ""
    execution_timeout: int = 0
    run_timeout: int = 0
    task_timeout: int = 0
    retry: Retry | None = None
    workflow_id: str = ""


@dataclass(frozen=True, slots=True)
class Policies:
    """The overlap and catch-up policies of a schedule; `catchup_window` is seconds."""

    overlap: Overlap
    catchup_window: int
    pause_on_failure: bool = False


@dataclass(frozen=True, slots=True)
class RuntimeState:
    """The part of a schedule that operators change by hand; `remaining_actions` is None for no limit."""

    paused: bool = False
    note: str = ""
    remaining_actions: int | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    """The current doings of a schedule, times in UTC: no spec decides them.

    `running` are workflow ids, `waiting` counts the occurrences that wait for a run to end, and `queued` all starts in the
    schedule's queue, of which `buffer_one` on V2 drops some when that run ends. `next_times` are the moments
    of the next starts, jitter included; one in the past is due and not started yet. `dropped` and `skipped` count the
    starts so far that fell outside the catch-up window, and those that overlap left out.
    """

    running: tuple[str, ...] = ()
    waiting: int = 0
    started: tuple[str, ...] = ()
    next_times: tuple[datetime, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None
    dropped: int = 0
    skipped: int = 0
    queued: int = 0


@dataclass(frozen=True, slots=True)
class DesiredSchedule:
    """The Temporal Schedule that a spec compiles to. `paused` is None where the spec leaves it to the operator.

    From `exact_until` on, clock changes are taken literally and holidays are not known, until the spec is compiled again.
    `left_out` are local days of clock changes with too many runs: it does not run in the hours concerned.
    `encryption` is the id of the key for its arguments and texts, empty for none.
    """

    id: str
    owner: str
    times: Times
    action: Action
    policies: Policies
    paused: bool | None = None
    exact_until: datetime | None = field(default=None, compare=False)
    left_out: tuple[date, ...] = field(default=(), compare=False)
    encryption: str = ""


@dataclass(frozen=True, slots=True)
class ListedSchedule:
    """A schedule's entry in List: at most `LISTED_ENTRIES` of each field of its times, and nothing of its arguments."""

    id: str
    times: Times
    workflow_type: str
    paused: bool = False
    search_attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def owner(self) -> str | None:
        """The mark of the project and environment that manages it; None where nobody does."""
        from activities.contract import OWNER_ATTRIBUTE  # which `next` has no use for, and it must start fast

        return _text(self.search_attributes, OWNER_ATTRIBUTE)

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of what a sync last wrote, None where none did."""
        from activities.contract import HASH_ATTRIBUTE

        return _text(self.search_attributes, HASH_ATTRIBUTE)


@dataclass(frozen=True, slots=True)
class Unsaid:
    """A setting on the server that no spec can express: its dotted name there, its value, and what a sync makes of it."""

    field: str
    before: Any
    after: Any = None


@dataclass(frozen=True, slots=True)
class ObservedSchedule:
    """The Temporal Schedule that the server has. `other` is what is set on it and no spec can express.

    `encryption` is the id of the key of its payloads; `unreadable` says why they could not be decrypted. `memo` names the
    fields of the schedule's own memo, which nobody can change. `version` is the server's conflict token: on the V2 scheduler
    each trigger makes a new one of a schedule that is otherwise the same.
    """

    id: str
    times: Times
    action: Action
    policies: Policies
    state: RuntimeState
    version: bytes = field(compare=False)
    search_attributes: Mapping[str, Any] = field(default_factory=dict)
    other: tuple[Unsaid, ...] = ()
    activity: Activity = field(default_factory=Activity, compare=False)
    encryption: str = ""
    unreadable: str = ""
    memo: tuple[str, ...] = field(default=(), compare=False)

    @property
    def owner(self) -> str | None:
        """The mark of the project and environment that manages it; None where nobody does."""
        from activities.contract import OWNER_ATTRIBUTE  # which `next` has no use for, and it must start fast

        return _text(self.search_attributes, OWNER_ATTRIBUTE)

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of what a sync last wrote, None where none did."""
        from activities.contract import HASH_ATTRIBUTE

        return _text(self.search_attributes, HASH_ATTRIBUTE)


def _text(attributes: Mapping[str, Any], name: str) -> str | None:
    value = attributes.get(name)
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace by its name, and by the id that its server gave it; that is empty where the server does not tell."""

    name: str
    id: str = ""
