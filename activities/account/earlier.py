"""Occurrences of before: of which the namespace keeps nothing any more, or which are older than the schedule. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.account.case import Case, Reason
from activities.late.decision import lateness
from activities.occurrence import occurrence_of, scheduled_time, stamp

if TYPE_CHECKING:
    from datetime import datetime


def was_started(case: Case) -> Reason | None:
    """The schedule knows its last starts by name, for longer than their runs are kept."""
    if case.job.occurrence_id(case.at) not in map(occurrence_of, case.job.recent):
        return None
    if case.now - case.at <= case.slack:
        return Reason("due", "the schedule has just started it")
    text = "the schedule started it, but the server has no run: it has been deleted since, or starts just now"
    return Reason("forgotten", text, ("the schedule's own list of its last starts",), certain=False)


def before_creation(case: Case) -> Reason | None:
    """What is known of an earlier schedule of this name comes first, and is looked for below."""
    created = case.job.created_at
    if created is None or not case.is_older or case.history or case.holder():
        return None
    if any(run.scheduled_by and run.started_at < created for run in case.runs):
        return _of_an_earlier_one(created)
    if case.may_be_forgotten:
        text = f"the schedule was created later, at {stamp(created)}; what was before is not known"
        return Reason("before_creation", text, certain=False)
    return Reason("before_creation", f"the schedule did not exist yet: it was created at {stamp(created)}")


def between_schedules(case: Case) -> Reason | None:
    """Of an earlier schedule something is known, and nothing that tells why it did not run."""
    return _of_an_earlier_one(case.job.created_at) if case.job.created_at and case.is_older else None


def _of_an_earlier_one(created: datetime) -> Reason:
    text = f"the schedule was created at {stamp(created)}; an earlier schedule of this name, deleted since, started nothing then"
    return Reason("before_creation", text, certain=False)


def forgotten(case: Case) -> Reason | None:
    """Not where the scheduler's history reaches back so far, nor where the schedule has not started anything since."""
    if case.history or not case.may_be_forgotten or _has_started_nothing_since(case):
        return None
    kept = lateness(case.job.retention) if case.job.retention else ""
    text = f"not known: the namespace keeps nothing that ended more than {kept} ago"
    return Reason("forgotten", text, certain=False)


def _has_started_nothing_since(case: Case) -> bool:
    """By the schedule's own list of its last starts, this one included; a list without any is whole."""
    if case.job.created_at is None or case.is_older:
        return False
    times = [at for each in case.job.recent if (at := scheduled_time(each)) is not None]
    return len(times) == len(case.job.recent) and all(at < case.at for at in times)
