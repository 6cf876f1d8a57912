"""Runs that the job's own overlap policy has ended, for a newer one that was due: no failure of theirs. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedules.ledger.facts import Job, Run

AT_ONCE = timedelta(seconds=2)
"""The schedule starts the newer one as soon as the older one has ended."""


def replaced(job: Job, runs: Sequence[Run]) -> list[Run]:
    """The same runs; under `terminate_other` those that made room for another count as cancelled, as under `cancel_other`."""
    if job.overlap != "terminate_other":
        return list(runs)
    return [_made_room(run, newer) if (newer := _newer(run, runs)) else run for run in runs]


def may_be_replaced(runs: Iterable[Run]) -> bool:
    """Whether the policy, where it is not known, makes a difference to one of them."""
    known = [run for run in runs if run.scheduled_by]
    return any(_newer(run, known) for run in known if run.verdict == "terminated")


def _made_room(run: Run, newer: Run) -> Run:
    return replace(run, marked="cancelled", said=f"overlap is terminate_other, and {newer.id} was due")


def _newer(run: Run, runs: Iterable[Run]) -> Run | None:
    """The run for which the schedule has terminated another one; None where somebody else has."""
    if run.status != "terminated" or not run.scheduled_by or (closed := run.closed_at) is None:
        return None
    newer = (other for other in runs if other.scheduled_by and other.scheduled_at > run.scheduled_at)
    return next((other for other in newer if abs(other.started_at - closed) <= AT_ONCE), None)
