"""A plan as lines for a person: what is made, what changes in the words of the file, what goes, and the counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedules.console.terminal import Line
from schedules.plan.differences import short
from schedules.plan.worded import worded
from schedules.plan.worded_watchdog import is_watchdog, moved_worded, watching
from schedules.text.shown import printable
from schedules.views.plan import SIGNS, VERBS, counts, local_times, names, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from zoneinfo import ZoneInfo

    from schedules.plan.change import Change
    from schedules.plan.consequences import Consequences
    from schedules.plan.differences import FieldDiff
    from schedules.plan.plan import Plan

POLICY = "policy "
"""How a consequence begins that says again what the line of a field says."""
OF_JOB = re.compile(r"jobs\.(?P<job>[^.]+)\.(?P<field>.+)")
"""A field that a watchdog has of one of its jobs."""
ON_MISSED = "on_missed"


@dataclass(frozen=True, slots=True)
class Shared:
    """The fields that change alike for several jobs, each with these jobs, by the text of the field.

    `whole` are jobs that begin or cease to be watched as a whole: their `on_missed` is not told. `moved` are those that go
    from one watchdog to another, with what changes for them.
    """

    fields: Mapping[str, tuple[FieldDiff, tuple[str, ...]]]
    whole: AbstractSet[str]
    moved: Mapping[str, list[FieldDiff]]

    def own(self, change: Change) -> list[FieldDiff]:
        """What changes for this one alone."""
        told = _told(change, self.whole, self.moved)
        return [diff for diff in told if diff_text(_without_job(diff)) not in self.fields]

    def groups(self) -> Iterator[tuple[tuple[str, ...], list[FieldDiff]]]:
        """Jobs, and all the fields that change for just these."""
        found: dict[tuple[str, ...], list[FieldDiff]] = {}
        for diff, jobs in self.fields.values():
            found.setdefault(jobs, []).append(diff)
        yield from found.items()


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
    """Fields that change alike in several schedules, or for several jobs that a watchdog looks after."""
    found: dict[str, tuple[FieldDiff, list[str], int]] = {}
    whole = {change.job for change in changes if change.verb != "update" or _changes_mode(change)}
    moved = moved_worded(changes)
    for change in changes:
        for diff in () if change.conflict else _told(change, whole, moved):
            text = diff_text(field := _without_job(diff))
            _, jobs, count = found.get(text, (field, [], 0))
            found[text] = (field, [*jobs, *_jobs_of(change, diff)], count + 1)
    several = {text: (diff, tuple(sorted(set(jobs)))) for text, (diff, jobs, count) in found.items() if count > 1}
    return Shared(several, whole, moved)


def _told(change: Change, whole: AbstractSet[str], moved: Mapping[str, list[FieldDiff]]) -> Iterator[FieldDiff]:
    for diff in worded(change):
        found = OF_JOB.fullmatch(diff.field)
        job = found["job"] if found else ""
        if job in moved and found and found["field"] == ON_MISSED:
            yield from moved[job] if diff.before is None else ()
        elif job not in whole:
            yield diff


def _changes_mode(change: Change) -> bool:
    return any(diff.field == "mode" for diff in worded(change))


def _jobs_of(change: Change, diff: FieldDiff) -> Iterator[str]:
    """The jobs that a line is about; a change of a channel in a watchdog is of all its jobs that the channel is told of."""
    if found := OF_JOB.fullmatch(diff.field):
        yield found["job"]
    elif is_watchdog(change):
        yield from watching(change, diff.field)
    else:
        yield change.job


def _without_job(diff: FieldDiff) -> FieldDiff:
    found = OF_JOB.fullmatch(diff.field)
    return replace(diff, field=found["field"]) if found else diff


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
    for jobs, diffs in shared.groups():
        yield Line(f"~ update {names(jobs, 'jobs')}", "update")
        yield from (Line(f"    {diff_text(diff)}", "detail") for diff in diffs)
    for why, held in conflicts(changes).items():
        verb = next(change.verb for change in changes if change.job == held[0])
        yield Line(f"! {verb} {names(held, 'jobs')}: {why}", "warning")


def _change_lines(change: Change, shared: Shared) -> Iterator[Line]:
    diffs = map(diff_text, shared.own(change))
    follows = change.consequences
    lines = [
        *(Line(f"    {text}", "detail") for text in diffs),
        *(() if is_watchdog(change) else _times_lines(follows, zone_of(change))),
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
