"""Why an occurrence has no run: the first reason that the evidence bears. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from activities.held_back import NEVER, held_back
from schedules.cron.occurrences import occurrences_of
from schedules.duration import format_duration
from schedules.ledger.facts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from schedules.ledger.facts import Job, Run
    from schedules.ledger.timeline import Event, Timeline

SLACK = timedelta(seconds=10)
"""A scheduler that looks so much later than it should was away; a start that is due for less long may still come."""
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Reason:
    """`evidence` is what was seen that bears it; `certain` is False where it is the likeliest of several."""

    verdict: Verdict
    text: str
    evidence: tuple[str, ...] = ()
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """One occurrence without a run, and all that can be asked about it; `runs` are the job's, oldest first."""

    at: datetime
    job: Job
    runs: Sequence[Run]
    now: datetime
    timeline: Timeline | None = None

    @property
    def history(self) -> Timeline | None:
        """The timeline where it reaches back to the occurrence."""
        return self.timeline if self.timeline and self.timeline.knows(self.at) else None

    @property
    def slack(self) -> timedelta:
        """Until when a start is not late, jitter included."""
        return SLACK + timedelta(seconds=self.job.times.jitter)


def why_not(case: Case) -> Reason:
    """The reason, which in the end may be that none was found."""
    return next(reason for check in CHECKS if (reason := check(case)) is not None)


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC, whole seconds."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _not_yet(case: Case) -> Reason | None:
    return Reason("not_yet_due", f"it is due at {stamp(case.at)}") if case.at > case.now else None


def _before_creation(case: Case) -> Reason | None:
    created = case.job.created_at
    if created is None or case.at >= created:
        return None
    return Reason("before_creation", f"the schedule did not exist yet: it was created at {stamp(created)}")


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
    if not case.history or not (times := case.history.times_at(case.at)):
        return None
    if occurrences_of(times).next_after(case.at - SECOND) == case.at:
        return None
    change = case.history.change_after(case.at)
    changed = f"it was changed at {stamp(change.at)}{_by(change)}" if change else "it has been changed since"
    text = f"it was not due then: the schedule had other times, and {changed}"
    return Reason("not_due_then", text, ("the server's history of the schedule",))


def _paused(case: Case) -> Reason | None:
    if case.history:
        pause = case.history.pause_at(case.at)
        if pause is None:
            return None
        since = "already at" if pause.kind == "known" else "since"
        note = f": {pause.note}" if pause.note else ""
        end = case.history.pause_end(case.at)
        until = f" until {stamp(end.at)}{_by(end)}" if end else ""
        text = f"the schedule was paused, {since} {stamp(pause.at)}{_by(pause)}{until}{note}"
        return Reason("paused", text, ("the server's history of the schedule",))
    if not case.job.paused or _run_after(case):
        return None
    note = f": {case.job.note}" if case.job.note else ""
    text = f"the schedule was probably paused: it is paused now, and nothing has run since{note}"
    return Reason("paused", text, certain=False)


def _used_up(case: Case) -> Reason | None:
    if case.job.remaining != 0:
        return None
    return Reason("used_up", "the schedule had no remaining actions; it has 0 now", certain=not _run_after(case))


def _overlap(case: Case) -> Reason | None:
    if case.job.overlap in NEVER:
        return None
    other = next((run for run in case.runs if _holds(case, run)), None)
    if other is None:
        return None
    ended = f"ended at {stamp(other.closed_at)}" if other.closed_at else "has not ended"
    evidence = [f"{other.id} was started at {stamp(other.started_at)} and {ended}"]
    if other.waiting:
        evidence.append("no worker has taken it: it waits in its task queue")
    if other.closed_at is None and case.job.waiting and case.job.overlap in {"buffer_one", "buffer_all"}:
        return Reason(
            "buffered", f"it may be among the {case.job.waiting} that wait for {other.id} to end", (*evidence,)
        )
    if case.job.skipped:
        evidence.append(f"the server counts {case.job.skipped} starts left out by overlap so far")
    text = f"another occurrence was running ({other.id}), and overlap is {case.job.overlap or 'not known'}"
    return Reason("overlap_skipped", text, (*evidence,), certain=case.job.overlap is not None)


def _holds(case: Case, run: Run) -> bool:
    """Runs started by hand under an occurrence's id hold nothing back."""
    at_work = held_back(case.at, timedelta(seconds=case.job.times.jitter), run.started_at, run.closed_at)
    return at_work and bool(run.scheduled_by or run.parent)


def _scheduler_away(case: Case) -> Reason | None:
    """The scheduler looks at each time that is due; where it did so much later, the server was away."""
    if not case.history:
        return None
    wake = case.history.wake_from(case.at)
    late = (wake or case.now) - case.at
    if late <= case.slack:
        return None
    last = case.history.wake_before(case.at)
    gap = f"the scheduler looked for what is due at {stamp(last) if last else 'no time before'}"
    gap += f" and next at {stamp(wake)}" if wake else ", and has not looked since"
    if wake is None:
        return Reason("due", "the server was away when it was due, and its scheduler is not back yet", (gap,))
    return _after_outage(case, late, wake, gap)


def _after_outage(case: Case, late: timedelta, wake: datetime, gap: str) -> Reason:
    window = case.job.window
    if window is not None and late.total_seconds() > window:
        text = (
            f"the server was away when it was due, and came back {_length(late)} later: "
            f"longer than the catch-up window of {_length(timedelta(seconds=window))}"
        )
        return Reason("missed", text, (gap, *_dropped(case)))
    instead = next((run for run in case.runs if wake - SLACK <= run.started_at), None)
    if instead is None:
        return Reason("missed", f"the server was away when it was due, and came back {_length(late)} later", (gap,))
    text = (
        f"the server was away when it was due; when it was back, {_length(late)} later, it started {instead.id} "
        f"and left out the others, since overlap is {case.job.overlap}"
    )
    return Reason("overlap_skipped", text, (gap, f"{instead.id} was started at {stamp(instead.started_at)}"))


def _dropped(case: Case) -> tuple[str, ...]:
    count = case.job.dropped
    return (f"the server counts {count} starts outside the catch-up window so far",) if count else ()


def _still_due(case: Case) -> Reason | None:
    waited = case.now - case.at
    return Reason("due", f"it is due since {stamp(case.at)} and may start any moment") if waited <= case.slack else None


def _forgotten(case: Case) -> Reason | None:
    retention = case.job.retention
    if retention is None or case.at >= case.now - retention:
        return None
    text = f"nothing is known any more: the namespace forgets what ended more than {_length(retention)} ago"
    return Reason("forgotten", text, certain=False)


def _spec_may_have_changed(case: Case) -> Reason | None:
    updated = case.job.updated_at
    if case.history or updated is None or case.at >= updated:
        return None
    text = f"it is due under the spec of today, but the schedule was changed at {stamp(updated)}: it may not have been due then"
    return Reason("missed", text, certain=False)


def _unexplained(case: Case) -> Reason | None:
    counted = _dropped(case)
    text = "no reason was found"
    if counted:
        text = "probably the server was away for longer than the catch-up window"
    elif case.history:
        text = (
            "the scheduler looked for what is due on time, and nothing was started: an update in that moment throws away "
            "what is due, and so does a workflow that had its id already"
        )
    return Reason("missed", text, counted, certain=False)


CHECKS: tuple[Callable[[Case], Reason | None], ...] = (
    _not_yet,
    _before_creation,
    _decided_by_another,
    _other_spec,
    _paused,
    _forgotten,
    _used_up,
    _overlap,
    _still_due,
    _scheduler_away,
    _spec_may_have_changed,
    _unexplained,
)


def _run_after(case: Case) -> bool:
    return any(run.scheduled_at > case.at and run.scheduled_by for run in case.runs)


def _by(event: Event) -> str:
    return f" by {event.by}" if event.by else ""


def _length(span: timedelta) -> str:
    return format_duration(timedelta(seconds=round(span.total_seconds())))
