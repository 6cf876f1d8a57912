"""By when a job should have come to an end, and for how long it is past that. Pure."""

from __future__ import annotations

from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from schedules.ledger.facts import Job, Run
    from schedules.ledger.occurrences import Occurrence

NEWEST = 20
"""Successes that say how long runs usually take."""
FEWEST = 3
"""Successes without which nothing is usual."""
LEEWAY = 2
"""A run may take so many times as long as the longest of the newest successes."""
NOT_STARTED = frozenset({"missed", "due", "waiting"})
NONE = timedelta(0)


def usual_duration(runs: Sequence[Run]) -> timedelta | None:
    """The median of the newest successes; None of fewer than three."""
    spans = _spans(runs)
    return timedelta(seconds=median(span.total_seconds() for span in spans)) if len(spans) >= FEWEST else None


def expected_by(job: Job, occurrences: Sequence[Occurrence], runs: Sequence[Run], now: datetime) -> datetime | None:
    """When the oldest occurrence that has not come to an end should have; None where there is none.

    `occurrences` are oldest first. One that has ended, however, makes up for those before it. A policy's decision not to run
    is an end, too, and so is a pause. Whether the end was a success is another question. A run that goes on, of which neither
    a success nor a limit says how long it may take, is not expected to end.
    """
    if job.paused:
        return None
    found = None
    longest = max(_spans(runs), default=NONE) * LEEWAY
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


def _spans(runs: Sequence[Run]) -> list[timedelta]:
    """How long the newest successes took."""
    successes = [run for run in runs if run.closed_at and run.verdict == "succeeded"]
    newest = sorted(successes, key=lambda run: run.scheduled_at)[-NEWEST:]
    return [run.closed_at - run.started_at for run in newest if run.closed_at]
