"""A plan as lines for a person: what is made, what changes in the words of the file, what goes, and the counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedules.console.terminal import Line
from schedules.plan.differences import short
from schedules.plan.worded import worded
from schedules.text.shown import printable
from schedules.views.plan import SIGNS, VERBS, counts, local_times, names, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from zoneinfo import ZoneInfo

    from schedules.plan.change import Change
    from schedules.plan.consequences import Consequences
    from schedules.plan.differences import FieldDiff
    from schedules.plan.plan import Plan

Shared = dict[str, tuple["FieldDiff", list[str]]]
POLICY = "policy "
"""How a consequence begins that says again what the line of a field says."""
SHARED = "channels."
"""Fields of the file, which change for all jobs that name them."""


def plan_lines(plan: Plan) -> Iterator[Line]:
    """Creates, updates and deletes in this order, then the counts; what many jobs have in common stands there once."""
    shared = shared_changes(plan.changes)
    for line in _all_lines(plan.changes, shared):
        yield replace(line, text=printable(line.text))
    yield Line(counts(plan))


def ordered(changes: Iterable[Change]) -> list[Change]:
    """Those that must not be made last, so that they are seen."""
    return sorted(changes, key=lambda change: (bool(change.conflict), VERBS.index(change.verb)))


def shared_changes(changes: Sequence[Change]) -> Shared:
    """Fields of the file's channels that change for several jobs, by their text, with the names of the jobs."""
    found: Shared = {}
    for change in changes:
        for diff in worded(change):
            if diff.field.startswith(SHARED):
                found.setdefault(diff_text(diff), (diff, []))[1].append(change.job)
    return {text: (diff, jobs) for text, (diff, jobs) in found.items() if len(jobs) > 1}


def conflicts(changes: Iterable[Change]) -> dict[str, list[str]]:
    """What stands against changes, with the names of the jobs."""
    found: dict[str, list[str]] = {}
    for change in changes:
        if change.conflict:
            found.setdefault(change.conflict, []).append(change.job)
    return found


def diff_text(diff: FieldDiff) -> str:
    """One field, as it was and as it will be."""
    return f"{diff.field}: {short(diff.before)} → {short(diff.after)}"


def notes_of(follows: Consequences) -> list[str]:
    """Consequences that no line of a field says."""
    return [note for note in follows.notes if not note.startswith(POLICY)]


def _all_lines(changes: Sequence[Change], shared: Shared) -> Iterator[Line]:
    for change in ordered(changes):
        if not change.conflict:
            yield from _change_lines(change, shared)
    for text, (_, jobs) in shared.items():
        yield Line(f"~ update {names(jobs, 'jobs')}", "update")
        yield Line(f"    {text}", "detail")
    for why, jobs in conflicts(changes).items():
        verb = next(change.verb for change in changes if change.job == jobs[0])
        yield Line(f"! {verb} {names(jobs, 'jobs')}: {why}", "warning")


def _change_lines(change: Change, shared: Shared) -> Iterator[Line]:
    diffs = [text for text in map(diff_text, worded(change)) if text not in shared]
    follows = change.consequences
    lines = [
        *(Line(f"    {text}", "detail") for text in diffs),
        *_times_lines(follows, zone_of(change)),
        *(Line(f"    {note}", "warning" if note in follows.dangers else "detail") for note in notes_of(follows)),
    ]
    if lines or change.verb != "update":
        yield Line(f"{SIGNS[change.verb]} {change.verb} {change.job}", change.verb)
        yield from lines


def _times_lines(follows: Consequences, zone: ZoneInfo) -> Iterator[Line]:
    if follows.before == follows.after:
        return
    if follows.before:
        yield Line(f"    next runs before: {local_times(follows.before, zone)}", "detail")
    if follows.after:
        yield Line(f"    next runs{' after' if follows.before else ''}: {local_times(follows.after, zone)}", "detail")
