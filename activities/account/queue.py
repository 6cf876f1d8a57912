"""Which starts may still wait in a schedule's own queue, by its count and the runs that it has started. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from activities.account.due_times import between
from activities.overlap import KEPT_BY_V2, overlap_policy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from activities.account.facts import Run, ScheduleFacts

MOST = 1_000
"""What a schedule's queue holds at most."""
AT_ONCE = timedelta(seconds=5)
"""Within so long of the end of a run the schedule starts what waited for it."""
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Wait:
    """It waits for `behind` to end, which is None between two runs.

    `certain` is False where it is not known to be among those that do, `in_line` where it is only if somebody asked for it by hand.
    """

    behind: Run | None
    certain: bool
    in_line: bool = True


def wait_of(
    job: ScheduleFacts, runs: Sequence[Run], at: datetime, now: datetime, *, by_hand: bool = True
) -> Wait | None:
    """Whether a start that is due and has no run may still come; None where it cannot.

    The queue goes in order of time. Where more wait than are due since the newest run, others do, which were asked for by hand; `by_hand` False says that this one was not.
    """
    if not overlap_policy(job.overlap).buffers or not job.waiting:
        return None
    own = sorted((run for run in runs if run.scheduled_by), key=lambda run: run.scheduled_at)
    newest = own[-1] if own else None
    behind = next((run for run in own if run.closed_at is None), None)
    first = newest.scheduled_at + SECOND if newest else at
    due = list(islice(between(job.occurrences, first, now + SECOND), MOST))
    if job.overlap == "buffer_all":
        line, waits, certain = due, at >= first, len(due) <= job.waiting
    else:
        line = _line(job, own, due)
        waits, certain = at in line[: job.waiting], job.waiting <= len(line)
    if waits:
        return Wait(behind, certain)
    return Wait(behind, certain=False, in_line=False) if by_hand and job.waiting > len(line) else None


def _line(job: ScheduleFacts, own: Sequence[Run], due: Sequence[datetime]) -> list[datetime]:
    """The schedule's own starts that `buffer_one` keeps: the first since the last start; on V2 also the one next to that one's time."""
    since = _since(job, own, due)
    if not job.is_v2:
        return [*since[:1]]
    return [*due[:1], *[each for each in since if each not in due[:1]][: KEPT_BY_V2 - 1]]


def _since(job: ScheduleFacts, own: Sequence[Run], due: Sequence[datetime]) -> Sequence[datetime]:
    """The times that came due since the last start: the first of them waits, and no other of the schedule's own."""
    begin = _begin(job, own) - SECOND if own else None
    return [each for each in due if begin is None or each >= begin]


def _begin(job: ScheduleFacts, own: Sequence[Run]) -> datetime:
    """From when on a start had to wait for the newest run: its own start, or after an outage its time."""
    newest = own[-1]
    punctual = newest.started_at - newest.scheduled_at <= AT_ONCE + job.jitter
    took_over = any(run.closed_at and abs(newest.started_at - run.closed_at) <= AT_ONCE for run in own[:-1])
    return newest.started_at if punctual or took_over else newest.scheduled_at
