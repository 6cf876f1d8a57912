"""Runs that the job's own overlap policy has ended, for a newer one that was due: no failure of theirs. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from activities.account.facts import Run
    from schedules.ledger.facts import Job

BY_POLICY = "terminated by schedule overlap policy"
"""The reason that the server writes into the last event of a run that it terminates for another."""
AT_ONCE = timedelta(seconds=2)
"""The server takes so long at most from the time of a run to the end of the one before it."""


def replaced(job: Job, runs: Sequence[Run]) -> list[Run]:
    """The same runs; under `terminate_other` those that made room for another count as cancelled, as under `cancel_other`."""
    guess = job.overlap == "terminate_other"
    return [
        _made_room(run, newer)
        if guess and run.said in {"", BY_POLICY} and (newer := _newer(run, runs))
        else _by_its_event(run)
        for run in runs
    ]


def may_be_replaced(runs: Iterable[Run]) -> bool:
    """Whether the policy, where it is not known, makes a difference to one of them."""
    known = [run for run in runs if run.scheduled_by]
    return any(_newer(run, known) for run in known if run.verdict == "terminated")


def _by_its_event(run: Run) -> Run:
    if run.status != "terminated" or run.said != BY_POLICY:
        return run
    return replace(run, marked="cancelled", said="overlap is terminate_other, and the next one was due")


def _made_room(run: Run, newer: Run) -> Run:
    return replace(run, marked="cancelled", said=f"overlap is terminate_other, and {newer.id} was due")


def _newer(run: Run, runs: Iterable[Run]) -> Run | None:
    """The run for which the schedule has terminated another one; None where somebody else has."""
    if run.status != "terminated" or not run.scheduled_by or (closed := run.closed_at) is None:
        return None
    newer = [
        other
        for other in runs
        if other.scheduled_by and other.scheduled_at > run.scheduled_at and other.started_at >= closed - AT_ONCE
    ]
    first = min(newer, key=lambda other: other.started_at, default=None)
    return first if first and first.scheduled_at <= closed + AT_ONCE else None
