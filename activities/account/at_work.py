"""Whether a run was kept from going on because no worker took its tasks. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from temporalio.api.enums.v1 import EventType

from activities.account.record import time_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime, timedelta

    from temporalio.api.history.v1 import HistoryEvent


@dataclass(frozen=True, slots=True)
class Untaken:
    """A span in which a task of a run was in its queue and no worker took it."""

    begin: datetime
    end: datetime


def untaken_at(events: Iterable[HistoryEvent], at: datetime, least: timedelta) -> Untaken | None:
    """The span of at least that length that holds an instant; None where a worker may have had the run then."""
    return next(
        (each for each in _untaken(events) if each.begin <= at < each.end and each.end - each.begin > least), None
    )


def _untaken(events: Iterable[HistoryEvent]) -> Iterator[Untaken]:
    """A workflow task that timed out in a worker's own queue goes on waiting in the common one."""
    task: datetime | None = None
    activities: dict[int, HistoryEvent] = {}
    for event in events:
        at = time_of(event.event_time)
        match event.event_type:
            case EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
                task = task or at
            case EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED if task:
                yield Untaken(task, at)
                task = None
            case EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
                activities[event.event_id] = event
            case EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
                started = event.activity_task_started_event_attributes
                if scheduled := activities.get(started.scheduled_event_id):
                    yield Untaken(_due(scheduled, started.attempt), at)


def _due(scheduled: HistoryEvent, attempt: int) -> datetime:
    """The latest moment at which an attempt was due: those before it may each have taken all of their time."""
    given = scheduled.activity_task_scheduled_event_attributes
    one = given.start_to_close_timeout.ToTimedelta() + given.retry_policy.maximum_interval.ToTimedelta()
    return time_of(scheduled.event_time) + (attempt - 1) * one
