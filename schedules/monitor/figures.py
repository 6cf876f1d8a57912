"""Figures of one job, as numbers and instants. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from activities.account.facts import TROUBLE
from schedules.ledger.state import count_of
from schedules.monitor.deadline import expected_by, overdue, usual_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.ledger.facts import Job
    from schedules.ledger.state import JobState

LEFT_OUT_BY_OVERLAP = frozenset({"overlap_skipped"})
NONE = timedelta(0)


@dataclass(frozen=True, slots=True)
class Figures:
    """None where something is not known, or does not apply. Counts and the ratio are of the last 24 hours."""

    job: str
    owner: str
    next_at: datetime | None = None
    started_at: datetime | None = None
    succeeded_at: datetime | None = None
    failed_at: datetime | None = None
    failures: int | None = None
    failure_ratio: float | None = None
    missed: int | None = None
    overlap_skipped: int | None = None
    buffered: int = 0
    running: int = 0
    stuck: int = 0
    paused: bool = False
    paused_at: datetime | None = None
    overdue: timedelta = NONE
    late: timedelta = NONE
    usual: timedelta | None = None
    last: timedelta | None = None


def figures_of(job: Job, state: JobState, runs: Sequence[Run], since: datetime, now: datetime) -> Figures:
    """`runs` are all that are known of the job, `since` is from when on is counted."""
    return Figures(
        job=job.name,
        owner=job.owner,
        next_at=job.next_start(now),
        started_at=max((run.started_at for run in runs), default=None),
        succeeded_at=_last_end(run for run in runs if run.verdict == "succeeded"),
        failed_at=_last_end(run for run in runs if run.verdict in TROUBLE),
        failures=state.failures if _knows_ends(job, runs) else None,
        failure_ratio=_failure_ratio(runs, since),
        missed=state.missed,
        overlap_skipped=None if state.skipped is None else count_of(state.occurrences, LEFT_OUT_BY_OVERLAP),  # type: ignore[arg-type]  # one verdict
        buffered=job.waiting if state.running else 0,
        running=len(state.running),
        stuck=sum(bool(run.stuck) for run in state.running),
        paused=job.paused,
        paused_at=state.paused_at if job.paused else None,
        overdue=overdue(expected_by(job, state.occurrences, runs, now), now),
        late=max(now - state.overdue, NONE) if state.overdue and not job.paused else NONE,
        usual=usual_duration(runs),
        last=_last_duration(runs, now),
    )


def _last_end(runs: Iterable[Run]) -> datetime | None:
    return max((run.closed_at for run in runs if run.closed_at), default=None)


def _knows_ends(job: Job, runs: Sequence[Run]) -> bool:
    """Not of a job of whose last runs the namespace keeps none, so that nobody knows how they ended."""
    return any(run.closed_at for run in runs) or {run.id for run in runs}.issuperset(job.recent)


def _failure_ratio(runs: Sequence[Run], since: datetime) -> float | None:
    """Failures among the runs that have done their work or failed at it."""
    ended = [run.verdict for run in runs if run.closed_at and run.closed_at >= since]
    failed = sum(verdict in TROUBLE for verdict in ended)
    told = failed + ended.count("succeeded")
    return failed / told if told else None


def _last_duration(runs: Sequence[Run], now: datetime) -> timedelta | None:
    """So far, of the run that goes on for longest; else of the success that ended last."""
    going = [
        max(now - (run.taken_at or run.started_at), NONE) for run in runs if run.closed_at is None and not run.waiting
    ]
    if going:
        return max(going)
    ended = [run for run in runs if run.closed_at and run.verdict == "succeeded"]
    last = max(ended, key=lambda run: run.scheduled_at, default=None)
    return last.duration if last else None
