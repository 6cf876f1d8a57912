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
    from activities.account.queue import Wait


def overlap(case: Case) -> Reason | None:
    """Never left out as long as it may still run; under `terminate_other` a start neither waits nor is left out."""
    policy = overlap_policy(case.job.overlap)
    if policy.name == "cancel_other":
        return _replaced(case) or _dropped(case)
    if not policy.holds_back:
        return None
    wait = wait_of(case.job, case.runs, case.at, case.now, by_hand=case.may_be_asked_for)
    if wait and (wait.in_line or policy.keeps_all):
        return _waits(case, wait)
    other = case.holder()
    if other is None:
        return _waits(case, wait) if wait else None
    return (_dropped(case) if policy.buffers else None) or _held_back(case, other)


def _held_back(case: Case, other: Run) -> Reason:
    ended = f"ended at {stamp(other.closed_at)}" if other.closed_at else "has not ended"
    evidence = [f"{other.id} was started at {stamp(other.started_at)} and {ended}"]
    if other.waiting:
        evidence.append("no worker has taken it; it waits in its task queue")
    if case.job.overlap == "buffer_all" and not case.job.skipped:
        return _given_up(case, other, evidence)
    if case.job.skipped:
        evidence.append(f"the server counts {case.job.skipped} starts left out by overlap so far")
    text = f"another occurrence was running ({other.id}), and overlap is {case.job.overlap or 'not known'}"
    certain = case.job.overlap not in {None, "buffer_all"}
    return Reason("overlap_skipped", text, (*evidence,), certain)


def _given_up(case: Case, other: Run, evidence: list[str]) -> Reason:
    """A queue that keeps all has let it go."""
    text = f"it waited for {other.id} to end, and waits no more"
    if since := case.unknown_before:
        why = f"a pause drops what waits, and what was done to the schedule before {stamp(since)} is not known any more"
        return Reason("unknown", f"{text}: {why}", (*evidence, *case.dropped), certain=False)
    return Reason("missed", f"{text}: why is not known", (*evidence, *case.dropped), certain=False)


def _replaced(case: Case) -> Reason | None:
    """A start that waits for a run to end that its policy ends gives way to the next one that comes due meanwhile."""
    other = case.holder()
    following = case.job.occurrences.next_after(case.at)
    if other is None or following is None:
        return None
    evidence = f"{other.id} was started at {stamp(other.started_at)}"
    if other.closed_at is None and following > case.now:
        return Reason("buffered", f"it waits for {other.id} to end", (evidence,), case.job.waiting > 0)
    if following > (case.heard_of(other) or case.now) or not _has_successor(case, other):
        return None
    text = f"it waited for {other.id} to end, until {stamp(following)} took its place; overlap is {case.job.overlap}"
    ended = f" and ended at {stamp(other.closed_at)}" if other.closed_at else ""
    return Reason("overlap_skipped", text, (evidence + ended,))


def _has_successor(case: Case, other: Run) -> bool:
    """Whether a start that came due while a run was there has run; of one that is still there nobody knows yet."""
    end = case.heard_of(other)
    return end is None or any(case.at < run.scheduled_at <= end and run.scheduled_by for run in case.runs)


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


def _waits(case: Case, wait: Wait) -> Reason:
    behind = f"for {wait.behind.id} to end" if wait.behind else "for another to end"
    text = f"it waits {behind}" if wait.certain else f"it may be among those that wait {behind}"
    return Reason("buffered", text, (f"starts that wait, by the server's count: {case.job.waiting}",), wait.certain)
