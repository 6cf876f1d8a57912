"""The state of a job in one line, from its ledger. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from activities.account.facts import LEFT_OUT, LOST, NOT_RUN, TROUBLE
from activities.account.verdict import SLACK
from activities.note import paused_at
from activities.occurrence import stamp
from schedules.cron.reboot import has_mark

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from activities.account.facts import Run, Verdict
    from activities.account.record import Event
    from schedules.ledger.facts import Job
    from schedules.ledger.notices.sent import Sent
    from schedules.ledger.occurrences import Occurrence

State = Literal["ok", "running", "never_ran", "late", "failing", "paused", "missing", "unknown", "shadow"]
NO_VERDICT = NOT_RUN | {"cancelled"}
"""Ends that say nothing about whether the job works."""


@dataclass(frozen=True, slots=True)
class PauseEnd:
    """The time at which a pause ends by itself; `fault` is why it has not, if that time is past."""

    at: datetime
    fault: str = ""

    @property
    def text(self) -> str:
        """In words."""
        if self.fault:
            return f"should have resumed at {stamp(self.at)}: {self.fault}"
        return f"paused until {stamp(self.at)} (resumes by itself)"


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """Failures in a row since the scheduled time `since`; the `channels` are told of number `after`, and of the end.

    `after` is None where List does not say who is told.
    """

    since: str
    after: int | None = None
    channels: tuple[str, ...] = ()
    sent: tuple[Sent, ...] | None = None  #: its notices, oldest first; None where they were not read


@dataclass(frozen=True, slots=True)
class JobState:
    """One job now. `missed` and `skipped` count since `since`, None where its times are not all known.

    `failures` are consecutive, of the runs that were read. `overdue` is the oldest time that should have started by now and
    has not, or waits for a worker. `next_at` is a scheduled time, after which the start comes within `jitter`. `why` is what to know about a state that is not ok. `last` is the newest run.
    """

    name: str
    state: State
    owner: str = ""
    timezone: str = "UTC"
    next_at: datetime | None = None
    last: Run | None = None
    last_outcome: Verdict | None = None
    failures: int = 0
    missed: int | None = None
    skipped: int | None = None
    running: tuple[Run, ...] = ()
    paused: bool = False
    paused_at: datetime | None = None
    paused_by: str = ""
    note: str = ""
    overdue: datetime | None = None
    why: str = ""
    since: datetime | None = None
    occurrences: Sequence[Occurrence] = field(default=(), repr=False)
    incident: OpenIncident | None = None
    pause_end: PauseEnd | None = None
    jitter: timedelta = timedelta(0)


def state_of(
    job: Job,
    occurrences: Sequence[Occurrence],
    runs: Sequence[Run],
    now: datetime,
    *,
    since: datetime,
    pause: Event | None = None,
) -> JobState:
    """`runs` are all that are known of the job; `occurrences` are those since `since`, oldest first."""
    newest_first = sorted(runs, key=lambda run: (run.scheduled_at, run.started_at), reverse=True)
    ended = [run for run in newest_first if run.closed_at is not None]
    running = tuple(run for run in newest_first if run.closed_at is None)
    failures = consecutive_failures(ended)
    overdue = _overdue(occurrences, now)
    state = _state(job, newest_first, running, failures=failures, overdue=overdue)
    return JobState(
        name=job.name,
        state=state,
        owner=job.owner,
        timezone=job.times.timezone,
        next_at=job.next_start(now),
        jitter=job.jitter,
        last=next(iter(newest_first), None),
        last_outcome=ended[0].verdict if ended else None,
        failures=failures,
        missed=count_of(occurrences, LOST) if job.exact else None,
        skipped=count_of(occurrences, LEFT_OUT) if job.exact else None,
        running=running,
        paused=job.paused,
        paused_at=pause.at if pause and pause.kind != "known" else None,
        paused_by=pause.by if pause else "",
        note=job.note,
        overdue=overdue.scheduled_at if overdue else None,
        why=_why(job, state, newest_first, overdue, pause) or _of_builds(job, next(iter(newest_first), None)),
        since=since,
        occurrences=occurrences,
    )


def missing_job(name: str, owner: str, timezone: str) -> JobState:
    """A job of the spec files that has no schedule."""
    return JobState(name, "missing", owner, timezone, why="it has no schedule in the namespace; run a sync")


def consecutive_failures(ended: Sequence[Run]) -> int:
    """Of runs that have ended, newest first: how many in a row did not succeed."""
    count = 0
    for run in ended:
        if run.verdict in TROUBLE:
            count += 1
        elif run.verdict not in NO_VERDICT:
            break
    return count


def count_of(occurrences: Sequence[Occurrence], verdicts: frozenset[Verdict]) -> int:
    """The number of occurrences with one of these verdicts."""
    return sum(each.verdict in verdicts for each in occurrences)


def _overdue(occurrences: Sequence[Occurrence], now: datetime) -> Occurrence | None:
    """The oldest of the newest ones that have not started, or wait for a worker, although they are due."""
    found = None
    for each in reversed(occurrences):
        if each.verdict in {"missed", "waiting", "due"}:
            if each.scheduled_at < now - SLACK:
                found = each
        elif each.verdict not in {"overlap_skipped", "not_yet_due"}:
            break
    return found


def _state(
    job: Job, runs: Sequence[Run], running: Sequence[Run], *, failures: int, overdue: Occurrence | None
) -> State:
    if job.paused:
        return "paused"
    if any(run.closed_at for run in runs) and next(run for run in runs if run.closed_at).verdict == "shadow":
        return "shadow"
    if failures or any(run.stuck for run in running):
        return "failing"
    if overdue:
        return "late"
    if running:
        return "running"
    if not runs and job.recent:
        return "unknown"
    return "ok" if runs else "never_ran"


def _of_builds(job: Job, last: Run | None) -> str:
    """The text for a job with `@reboot`: that new builds start it, and which build did last."""
    if not has_mark(job.times):
        return ""
    began = f"last started for build {last.build}" if last and last.build else ""
    alone = len(job.times.calendars) == 1 and not job.times.intervals
    return "; ".join(part for part in (began, "starts with each new build of the workers" if alone else "") if part)


def _why(job: Job, state: State, newest_first: Sequence[Run], overdue: Occurrence | None, pause: Event | None) -> str:
    match state:
        case "paused" if paused_at(job.note):
            return job.note
        case "paused":
            since = f"since {stamp(pause.at)}" if pause and pause.kind != "known" else ""
            by = f"by {pause.by}" if pause and pause.by else ""
            said = job.note or (pause.note if pause else "")
            return ": ".join(part for part in (" ".join(word for word in (since, by) if word), said) if part)
        case "failing":
            failed = next(run for run in newest_first if run.stuck or run.verdict in TROUBLE)
            return f"{stamp(failed.scheduled_at)}: {failed.reason}" if failed.stuck else failed.reason or failed.verdict
        case "late" if overdue:
            return f"{stamp(overdue.scheduled_at)}: {overdue.reason}"
        case "shadow" if job.times.start_at and newest_first[0].scheduled_at < job.times.start_at:
            return f"begins at {stamp(job.times.start_at)} (start_at); until then no step runs and no notice is sent"
        case "shadow":
            return "its runs are recorded, no step runs and no notice is sent (mode: shadow)"
        case "unknown":
            return f"{job.recent[-1]} was its last start; the namespace no longer keeps how it ended"
        case _:
            return ""
