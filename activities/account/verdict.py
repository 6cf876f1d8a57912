"""Why an occurrence has no run: the first reason that the evidence bears. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.account.away import let_go_with_jitter, scheduler_away
from activities.account.case import Case, Reason
from activities.account.due_times import is_among
from activities.account.earlier import before_creation, between_schedules, forgotten, was_started
from activities.account.facts import SLACK
from activities.account.left_out import overlap
from activities.note import ended_pause, paused_at, paused_until
from activities.occurrence import stamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from activities.account.facts import Run, Verdict
    from activities.account.record import Event, SchedulerRecord

__all__ = ["SLACK", "Case", "Reason", "why_not"]


def why_not(case: Case) -> Reason:
    """The reason, which in the end may be that none was found."""
    return next(reason for check in CHECKS if (reason := check(case)) is not None)


def _deleted(case: Case) -> Reason | None:
    deleted = case.job.deleted_at
    if deleted is None or case.at <= deleted:
        return None
    return Reason("not_due_then", f"the schedule was deleted; its scheduler was last at work at {stamp(deleted)}")


def _not_yet(case: Case) -> Reason | None:
    if case.at <= case.now:
        return None
    until = paused_until(case.job.note) if case.job.paused else None
    if case.job.paused and (until is None or case.at < until):
        end = f"until {stamp(until)}" if until else "until somebody resumes it"
        return Reason("not_yet_due", f"it is due at {stamp(case.at)}, but will not start: the schedule is paused {end}")
    if (created := case.job.created_at) and case.job.occurrences.next_after(created) == case.at:
        text = (
            f"nothing was due yet: the schedule was created at {stamp(created)}, and its first time is {stamp(case.at)}"
        )
        return Reason("not_yet_due", text)
    return Reason("not_yet_due", f"it is due at {stamp(case.at)}")


def _decided_by_another(case: Case) -> Reason | None:
    """A late run accounts for the occurrences that it decided not to run."""
    for run in case.runs:
        account = run.result.not_run if run.result else None
        if account and account.first <= stamp(case.at) <= account.last:
            evidence = f"{run.id} accounts for {account.count} occurrences from {account.first} to {account.last}"
            return Reason(_decision(case, run), account.reason, (evidence,))
    return None


def _decision(case: Case, run: Run) -> Verdict:
    catchup = case.job.catchup
    late = run.started_at + (run.lateness - (run.started_at - run.scheduled_at)) - case.at
    if catchup and catchup.start_deadline is not None and late.total_seconds() > catchup.start_deadline:
        return "too_late"
    return "skipped" if catchup and catchup.policy == "skip" else "superseded"


def _other_spec(case: Case) -> Reason | None:
    spec = case.history.spec_at(case.at) if case.history else None
    if case.history is None or spec is None or is_among(case.at, case.job.occurrences_by(spec)):
        return None
    change = case.history.change_after(case.at)
    changed = f"it was changed at {stamp(change.at)}{_by(change)}" if change else "it has been changed since"
    text = f"it was not due then: the schedule had other times, and {changed}"
    return Reason("not_due_then", text, ("the server's history of the schedule",))


def _paused(case: Case) -> Reason | None:
    if case.history:
        return _paused_then(case, case.history)
    ended = ended_pause(case.job.note)
    if ended and ended[0] <= case.at <= ended[1]:
        text = f"the schedule was paused, since {stamp(ended[0])} until {stamp(ended[1])}: {case.job.note}"
        return Reason("paused", text, ("the note that the end of the pause left",))
    since = paused_at(case.job.note) if case.job.paused else None
    if since is not None and since <= case.at:
        text = f"the schedule is paused since {stamp(since)}: {case.job.note}"
        return Reason("paused", text, ("the note that the pause left",))
    return None


def _probably_paused(case: Case) -> Reason | None:
    if case.history or not case.job.paused or paused_at(case.job.note) or case.has_run_after or case.is_older:
        return None
    note = f": {case.job.note}" if case.job.note else ""
    text = f"the schedule was probably paused: it is paused now, and nothing has run since{note}"
    return Reason("paused", text, certain=False)


def _paused_then(case: Case, history: SchedulerRecord) -> Reason | None:
    pause = history.pause_at(case.at)
    if pause is None:
        return None
    since = "already at" if pause.kind == "known" else "since"
    note = f": {pause.note}" if pause.note else ""
    end = history.pause_end(case.at)
    until = f" until {stamp(end.at)}{_by(end)}" if end else ""
    text = f"the schedule {'was' if end else 'is'} paused, {since} {stamp(pause.at)}{_by(pause)}{until}{note}"
    return Reason("paused", text, ("the server's history of the schedule",))


def _used_up(case: Case) -> Reason | None:
    if case.job.remaining != 0 or case.is_older:
        return None
    return Reason("used_up", "the schedule has no remaining actions", certain=not case.has_run_after)


def _still_due(case: Case) -> Reason | None:
    if case.is_older or case.now - case.at > case.slack:
        return None
    return Reason("due", f"it has been due since {stamp(case.at)} and may start at any moment")


def _unknown(case: Case) -> Reason | None:
    """Temporal's V2 scheduler keeps no record of what a schedule was before the last write to it, of whatever kind."""
    since = case.unknown_before
    if since is None:
        return None
    text = f"what the schedule was before {stamp(since)} is not known any more: it may have been paused or not due"
    return Reason("unknown", text, certain=False)


def _unexplained(case: Case) -> Reason | None:
    counted = case.dropped
    text = "no reason was found"
    if counted:
        text = "probably the server was away for longer than the catch-up window"
    elif case.history and case.history.has_signs(case.at):
        text = (
            "the scheduler checked on time, and nothing was started; an update at that moment discards what is due, "
            "and so does a workflow that already has the id"
        )
    return Reason("missed", text, counted, certain=False)


CHECKS: tuple[Callable[[Case], Reason | None], ...] = (
    _deleted,
    _not_yet,
    was_started,
    _other_spec,
    _paused,
    _decided_by_another,
    before_creation,
    _probably_paused,
    forgotten,
    _used_up,
    overlap,
    _still_due,
    between_schedules,
    let_go_with_jitter,
    scheduler_away,
    _unknown,
    _unexplained,
)


def _by(event: Event) -> str:
    return f" by {event.by}" if event.by else ""
