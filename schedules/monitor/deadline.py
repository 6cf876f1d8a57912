"""By when a job should have come to an end, and for how long it is past that. Pure."""

from __future__ import annotations

from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.ledger.facts import Job
    from schedules.ledger.occurrences import Occurrence

NEWEST = 20
"""Successes that say how long runs usually take."""
FEWEST = 3
"""Successes without which nothing is usual."""
LEEWAY = 2
"""A run may take so many times as long as the longest of the newest successes."""
LONGER, MARGIN = 1.5, timedelta(seconds=5)
"""A success that took so many times as long as usual, and so much longer, may have waited for a worker."""
NOT_STARTED = frozenset({"missed", "due", "waiting"})
NONE = timedelta(0)


def usual_duration(runs: Sequence[Run]) -> timedelta | None:
    """The median of the newest successes; None of fewer than three."""
    spans = _spans(runs)
    return timedelta(seconds=median(span.total_seconds() for span in spans)) if len(spans) >= FEWEST else None


def expected_by(job: Job, occurrences: Sequence[Occurrence], runs: Sequence[Run], now: datetime) -> datetime | None:
    """The time by which the oldest open occurrence should have ended; None where there is none.

    `occurrences` are oldest first. One that has ended, however, makes up for those before it. A policy's decision not to run
    is an end, too, and so is a pause. Whether the end was a success is another question. A run that goes on, of which neither
    a success nor a limit says how long it may take, is not expected to end.
    """
    if job.paused:
        return None
    found = None
    longest = _longest(runs) * LEEWAY
    for each in reversed(occurrences):
        at = each.scheduled_at + timedelta(seconds=job.times.jitter)
        if each.verdict in NOT_STARTED and each.scheduled_at <= now:
            found = at + longest
        elif each.verdict == "running":
            limit = longest or job.limit
            found = at + limit if limit else found
        elif each.run is not None or each.verdict == "forgotten":
            break
    return found


def overdue(deadline: datetime | None, now: datetime) -> timedelta:
    """For how long it is past, 0 if it is not."""
    return max(now - deadline, NONE) if deadline else NONE


def unsure(runs: Sequence[Run]) -> list[Run]:
    """Of the newest successes those that took so much longer than the others that they may have waited for a worker.

    Only their ends tell: what visibility has counts from the start by the server.
    """
    newest = [run for run in _newest(runs) if run.duration is not None]
    usual = usual_duration(runs) or NONE
    limit = max(usual * LONGER, usual + MARGIN)
    return [run for run in newest if run.result is None and run.duration is not None and run.duration > limit]


def _longest(runs: Sequence[Run]) -> timedelta:
    """One of which only visibility tells, and that took more than twice as long as all others, does not count."""
    newest = sorted(((run.duration or NONE, run.result is None) for run in _newest(runs)), reverse=True)
    if len(newest) >= FEWEST and newest[0][1] and newest[0][0] > newest[1][0] * LEEWAY:
        return newest[1][0]
    return newest[0][0] if newest else NONE


def _newest(runs: Sequence[Run]) -> list[Run]:
    """The newest successes, oldest first."""
    successes = [run for run in runs if run.closed_at and run.verdict == "succeeded"]
    return sorted(successes, key=lambda run: run.scheduled_at)[-NEWEST:]


def _spans(runs: Sequence[Run]) -> list[timedelta]:
    """The durations of the newest successes."""
    return [span for run in _newest(runs) if (span := run.duration) is not None]
