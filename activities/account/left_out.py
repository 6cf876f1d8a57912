"""Occurrences held back by another one: left out, or waiting. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.account.case import Case, Reason
from activities.account.queue import wait_of
from activities.note import ended_pause
from activities.occurrence import stamp
from activities.overlap import overlap_policy

if TYPE_CHECKING:
    from activities.account.facts import Run


def overlap(case: Case) -> Reason | None:
    """Never left out as long as it may still run."""
    policy = overlap_policy(case.job.overlap)
    if policy.ends_other:
        return _replaced(case) or _dropped(case)
    if not policy.holds_back:
        return None
    if waits := _waits(case):
        return waits
    other = case.holder()
    if other is None:
        return None
    if policy.buffers and (dropped := _dropped(case)):
        return dropped
    ended = f"ended at {stamp(other.closed_at)}" if other.closed_at else "has not ended"
    evidence = [f"{other.id} was started at {stamp(other.started_at)} and {ended}"]
    if other.waiting:
        evidence.append("no worker has taken it; it waits in its task queue")
    if case.job.overlap == "buffer_all" and not case.job.skipped:
        text = f"it waited for {other.id} to end, and waits no more: why is not known"
        return Reason("missed", text, (*evidence, *case.dropped), certain=False)
    if case.job.skipped:
        evidence.append(f"the server counts {case.job.skipped} starts left out by overlap so far")
    text = f"another occurrence was running ({other.id}), and overlap is {case.job.overlap or 'not known'}"
    certain = case.job.overlap not in {None, "buffer_all"}
    return Reason("overlap_skipped", text, (*evidence,), certain)


def _replaced(case: Case) -> Reason | None:
    """A start that waits for a run to end that its policy ends gives way to the next one that comes due meanwhile."""
    other = case.holder()
    following = case.job.occurrences.next_after(case.at)
    if other is None or following is None:
        return None
    evidence = f"{other.id} was started at {stamp(other.started_at)}"
    if other.closed_at is None and following > case.now:
        return Reason("buffered", f"it waits for {other.id} to end", (evidence,), case.job.waiting > 0)
    if following > (other.closed_at or case.now):
        return None
    text = f"it waited for {other.id} to end, until {stamp(following)} took its place; overlap is {case.job.overlap}"
    ended = f" and ended at {stamp(other.closed_at)}" if other.closed_at else ""
    return Reason("overlap_skipped", text, (evidence + ended,))


def _dropped(case: Case) -> Reason | None:
    """A pause drops what waits: until a newer one has started, it may be what waited."""
    other = case.holder()
    if other is None or (case.job.overlap == "buffer_one" and not _is_first_in_line(case, other)):
        return None
    newer = (run.started_at for run in case.runs if run.scheduled_at > case.at and run.started_at > case.at)
    until = min(newer, default=case.now)
    note = ended_pause(case.job.note)
    pause = case.record.pause_between(case.at, until) if case.record else None
    at = pause.at if pause else note[0] if note and case.at < note[0] <= until else None
    if at is None:
        return None
    text = f"it waited for {other.id} to end, and the schedule was paused at {stamp(at)}: a pause drops what waits"
    return Reason("paused", text, (f"{other.id} was started at {stamp(other.started_at)}",))


def _is_first_in_line(case: Case, other: Run) -> bool:
    """Whether no time since the run began came before it: one of them alone waits."""
    first = case.job.occurrences.next_after(max(other.started_at, other.scheduled_at))
    return first is None or first >= case.at


def _waits(case: Case) -> Reason | None:
    wait = wait_of(case.job, case.runs, case.at, case.now, by_hand=case.may_be_asked_for)
    if wait is None:
        return None
    behind = f"for {wait.behind.id} to end" if wait.behind else "for another to end"
    text = f"it waits {behind}" if wait.certain else f"it may be among those that wait {behind}"
    return Reason("buffered", text, (f"starts that wait, by the server's count: {case.job.waiting}",), wait.certain)
