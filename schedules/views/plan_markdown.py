"""A plan as Markdown, for a comment on a pull request. Whatever a schedule is called or holds, it stays text. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.console.markdown import LONGEST, code, escape
from schedules.plan.differences import short
from schedules.plan.worded_watchdog import is_watchdog
from schedules.views.plan import SIGNS, counts, local_times, names, zone_of
from schedules.views.plan_lines import Shared, conflicts, notes_of, ordered, shared_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedules.plan.change import Change
    from schedules.plan.differences import FieldDiff
    from schedules.plan.plan import Applied, Plan


def plan_markdown(plan: Plan, results: Sequence[Applied], warnings: Sequence[str] = (), refused: str = "") -> str:
    """A heading with the counts, the warnings, and a section for each change, as many as fit into a comment.

    `refused` says why nothing of it was done.
    """
    text = f"### Schedules of {code(plan.owner)}\n\n{escape(counts(plan))}\n"
    if refused:
        text += f"\n❌ {escape(refused.partition(chr(10))[0])}\n"
    if warnings:
        text += "\n" + "".join(f"- ⚠️ {escape(warning)}\n" for warning in warnings)
    made = {item.change.job: item for item in results if item.result != "unchanged"}
    changes = [item.change for item in made.values()]
    shared = shared_changes(changes)
    sections = [_section(made[change.job], shared) for change in ordered(changes) if not change.conflict]
    parts = ["\n".join(lines) for lines in (*map(list, sections), *_common(changes, shared)) if lines]
    for number, part in enumerate(parts):
        if len(text) + len(part) + 2 > LONGEST:
            return text + f"\n… and {len(parts) - number} more changes\n"
        text += f"\n{part}\n"
    return text


def _common(changes: Sequence[Change], shared: Shared) -> Iterator[list[str]]:
    """What many jobs have in common, and what must not be changed."""
    for jobs, diffs in shared.groups():
        yield [f"#### ~ update {escape(names(jobs, 'jobs'))}", *map(_line, diffs)]
    for why, held in conflicts(changes).items():
        yield [f"#### ❌ {escape(names(held, 'jobs'))}", f"- {escape(why)}"]


def _section(item: Applied, shared: Shared) -> Iterator[str]:
    change = item.change
    result = "" if item.result == "planned" else f": {item.result}"
    heading = f"#### {SIGNS[change.verb]} {change.verb} {code(change.job)}{result}"
    lines = [f"- ❌ {escape(item.error)}"] if item.error else []
    lines += map(_line, shared.own(change))
    lines += _follows(change)
    if lines or result or change.verb != "update":
        yield heading
        yield from lines


def _line(diff: FieldDiff) -> str:
    return f"- {code(diff.field)}: {code(short(diff.before))} → {code(short(diff.after))}"


def _follows(change: Change) -> Iterator[str]:
    follows, zone = change.consequences, zone_of(change)
    if follows.before != follows.after and not is_watchdog(change):
        if follows.before:
            yield f"- next runs before: {escape(local_times(follows.before, zone))}"
        if follows.after:
            yield f"- next runs after: {escape(local_times(follows.after, zone))}"
    for note in notes_of(follows):
        yield f"- {'⚠️ ' if note in follows.dangers else ''}{escape(note)}"
