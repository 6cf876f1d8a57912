"""Why a run began late, in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.late.decision import lateness
from activities.occurrence import stamp
from activities.overlap import overlap_policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from activities.account.facts import Run, ScheduleFacts


def why_late(
    run: Run, others: Iterable[Run], job: ScheduleFacts, taken_at: datetime | None, *, by_schedule: bool
) -> tuple[str, ...]:
    """Each thing that kept it waiting; nothing for a run on time. What was asked for later (not `by_schedule`) began when it was."""
    began = _before_the_start(run, others, job) if by_schedule else ()
    return (*began, *_before_a_worker(run, job, taken_at))


def _before_the_start(run: Run, others: Iterable[Run], job: ScheduleFacts) -> Iterator[str]:
    """It waited for the run at whose end it could start; what came on top of that, or of its jitter, is the server's."""
    late = run.started_at - run.scheduled_at
    if late <= job.on_time - job.jitter:
        return
    ended = max(_ends_waited_for(run, others, job), default=None)
    if ended:
        yield f"it waited until {ended[1]} had ended, at {stamp(ended[0])}"
        late = run.started_at - ended[0]
    elif late <= job.on_time:
        yield f"it was held back by the job's jitter of up to {lateness(job.jitter)}"
    if late > job.on_time:
        yield f"the server started it {lateness(late)} {'after that' if ended else 'late'}: it was away or busy when it was due"


def _ends_waited_for(run: Run, others: Iterable[Run], job: ScheduleFacts) -> Iterator[tuple[datetime, str]]:
    """When earlier runs ended, each with its id, that were at work at the time of this one and had ended when it began."""
    policy = overlap_policy(job.overlap)
    if not (policy.buffers or policy.ends_other):
        return
    for other in others:
        is_earlier = other.run_id != run.run_id and other.scheduled_at < run.scheduled_at
        if is_earlier and other.closed_at and run.scheduled_at < other.closed_at <= run.started_at:
            yield other.closed_at, other.id


def _before_a_worker(run: Run, job: ScheduleFacts, taken_at: datetime | None) -> Iterator[str]:
    if taken_at is not None and taken_at - run.started_at > job.on_time - job.jitter:
        waited = lateness(taken_at - run.started_at)
        yield f"no worker of task queue `{run.task_queue}` took it for {waited}: they were away or busy"
