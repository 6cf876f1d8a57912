"""Whether a worker may have had a run at an instant, from histories built here as the server writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from activities.account.at_work import untaken_at

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def event(minute: float, kind: str) -> HistoryEvent:
    made = HistoryEvent(event_type=EventType.Value(f"EVENT_TYPE_{kind}"))
    made.event_time.FromDatetime(NOON + minute * MINUTE)
    return made


def task(scheduled: float, started: float) -> list[HistoryEvent]:
    return [event(scheduled, "WORKFLOW_TASK_SCHEDULED"), event(started, "WORKFLOW_TASK_STARTED")]


def step(scheduled: float, started: float, attempt: int = 1) -> list[HistoryEvent]:
    """Each attempt may take four minutes, and another passes before the next one."""
    asked, begun = event(scheduled, "ACTIVITY_TASK_SCHEDULED"), event(started, "ACTIVITY_TASK_STARTED")
    asked.event_id = 5
    given = asked.activity_task_scheduled_event_attributes
    given.start_to_close_timeout.FromTimedelta(4 * MINUTE)
    given.retry_policy.maximum_interval.FromTimedelta(MINUTE)
    begun.activity_task_started_event_attributes.scheduled_event_id = 5
    begun.activity_task_started_event_attributes.attempt = attempt
    return [asked, begun]


@pytest.mark.parametrize(
    ("history", "minute", "taken"),
    [
        (task(0, 30), 10, 30),
        (task(0, 30), 30, None),
        (task(0, 0.5), 0.2, None),  # For less than a minute: a worker was busy.
        (task(0, 0) + step(0, 30), 10, 30),  # A drain handed the step on, and nobody took it.
        (task(0, 0) + step(0, 0), 10, None),
        (task(0, 0) + step(0, 30, 2), 3, None),  # The first attempt may still have been at work.
        (task(0, 0) + step(0, 30, 2), 6, 30),
        (task(0, 0) + step(0, 30, 3), 6, None),
        # One that timed out in the queue of a worker that is gone waits on in the common queue.
        ([event(5, "WORKFLOW_TASK_SCHEDULED"), event(5.1, "WORKFLOW_TASK_TIMED_OUT"), *task(5.1, 30)], 5.05, 30),
        ([event(5, "WORKFLOW_TASK_SCHEDULED"), event(5.1, "WORKFLOW_TASK_TIMED_OUT"), *task(5.1, 30)], 10, 30),
    ],
)
def test_a_task_that_waits_longer_than_it_should_shows_that_no_worker_was_there(
    history: list[HistoryEvent], minute: float, taken: float | None
) -> None:
    found = untaken_at(history, NOON + minute * MINUTE, MINUTE)
    assert (found.end if found else None) == (None if taken is None else NOON + taken * MINUTE)
