"""A plan as Markdown, for a comment on a pull request. Whatever a schedule is called or holds, it stays text. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.console.markdown import LONGEST, code, escape
from schedules.plan.differences import short
from schedules.plan.worth_showing import worth_showing
from schedules.views.plan import SIGNS, counts, local_times, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedules.plan.change import Change
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
    shown = [item for item in results if item.result != "unchanged"]
    for number, item in enumerate(shown):
        part = "\n" + "\n".join(_section(item)) + "\n"
        if len(text) + len(part) > LONGEST:
            return text + f"\n… and {len(shown) - number} more changes\n"
        text += part
    return text


def _section(item: Applied) -> Iterator[str]:
    change = item.change
    result = "" if item.result == "planned" else f": {item.result}"
    yield f"#### {SIGNS[change.verb]} {change.verb} {code(change.job)}{result}"
    if error := item.error or change.conflict:
        yield f"- ❌ {escape(error)}"
    for diff in worth_showing(change):
        yield f"- {code(diff.field)}: {code(short(diff.before))} → {code(short(diff.after))}"
    yield from _follows(change)


def _follows(change: Change) -> Iterator[str]:
    follows, zone = change.consequences, zone_of(change)
    if follows.before != follows.after:
        if follows.before:
            yield f"- next runs before: {escape(local_times(follows.before, zone))}"
        if follows.after:
            yield f"- next runs after: {escape(local_times(follows.after, zone))}"
    for note in follows.notes:
        yield f"- ⚠️ {escape(note)}"
