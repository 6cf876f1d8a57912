"""Occurrences held back by another one: left out, or waiting. Pure."""

from __future__ import annotations

from activities.account.case import Case, Reason
from activities.account.queue import wait_of
from activities.occurrence import stamp
from activities.overlap import overlap_policy


def overlap(case: Case) -> Reason | None:
    """Never left out as long as it may still run."""
    policy = overlap_policy(case.job.overlap)
    if policy.ends_other:
        return _replaced(case)
    if not policy.holds_back:
        return None
    if waits := _waits(case):
        return waits
    other = case.holder()
    if other is None:
        return None
    ended = f"ended at {stamp(other.closed_at)}" if other.closed_at else "has not ended"
    evidence = [f"{other.id} was started at {stamp(other.started_at)} and {ended}"]
    if other.waiting:
        evidence.append("no worker has taken it; it waits in its task queue")
    if case.job.overlap == "buffer_all" and not case.job.skipped:
        text = f"it waited for {other.id} to end, and no longer waits; probably it waited for longer than the catch-up window"
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


def _waits(case: Case) -> Reason | None:
    wait = wait_of(case.job, case.runs, case.at, case.now)
    if wait is None:
        return None
    behind = f"for {wait.behind.id} to end" if wait.behind else "for another to end"
    text = f"it waits {behind}" if wait.certain else f"it may be among those that wait {behind}"
    return Reason("buffered", text, (f"starts that wait, by the server's count: {case.job.waiting}",), wait.certain)
