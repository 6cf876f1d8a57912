"""Why a run began late, in words. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from activities.account.verdict import SLACK
from activities.late.decision import lateness
from activities.occurrence import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from activities.account.facts import Run

AT_ONCE = timedelta(seconds=3)
"""Within this after the end of one run the schedule starts the next."""


def why_late(
    run: Run, others: Iterable[Run], jitter: timedelta, taken_at: datetime | None, *, by_schedule: bool
) -> tuple[str, ...]:
    """Each thing that kept it waiting; nothing for a run on time. What was asked for later (not `by_schedule`) began when it was."""
    began = _before_the_start(run, others, jitter) if by_schedule else ()
    return (*began, *_before_a_worker(run, taken_at))


def _before_the_start(run: Run, others: Iterable[Run], jitter: timedelta) -> Iterator[str]:
    waited = run.started_at - run.scheduled_at
    if waited <= SLACK:
        return
    if held := next((other for other in others if _held_back(other, run)), None):
        yield f"it waited until {held.id} had ended, at {stamp(held.closed_at)}" if held.closed_at else ""
    elif waited <= jitter + SLACK:
        yield f"it was held back by the job's jitter of up to {lateness(jitter)}"
    else:
        yield f"the server started it {lateness(waited)} late: it was away or busy when it was due"


def _held_back(other: Run, run: Run) -> bool:
    """Whether the one was at work when the other was due, and ended when that one began."""
    end = other.closed_at
    if end is None or other.run_id == run.run_id or other.scheduled_at >= run.scheduled_at:
        return False
    return run.scheduled_at < end and abs(run.started_at - end) <= AT_ONCE


def _before_a_worker(run: Run, taken_at: datetime | None) -> Iterator[str]:
    if taken_at is not None and taken_at - run.started_at > SLACK:
        waited = lateness(taken_at - run.started_at)
        yield f"no worker of task queue `{run.task_queue}` took it for {waited}: they were away or busy"
