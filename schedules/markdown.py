"""A plan as Markdown, for a comment on a pull request. Whatever a schedule is called or holds, it stays text. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedules.render import SIGNS, counts, local_times, short, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedules.apply import Applied
    from schedules.plan import Change, Plan

LONGEST = 60_000
"""Characters: GitHub takes 65,536 in a comment, GitLab a million."""
SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$-])")


def plan_markdown(plan: Plan, results: Sequence[Applied], warnings: Sequence[str] = ()) -> str:
    """A heading with the counts, the warnings, and a section for each change, as many as fit into a comment."""
    text = f"### Schedules of {code(plan.owner)}\n\n{escape(counts(plan))}\n"
    if warnings:
        text += "\n" + "".join(f"- ⚠️ {escape(warning)}\n" for warning in warnings)
    shown = [item for item in results if item.result != "unchanged"]
    for number, item in enumerate(shown):
        part = "\n" + "\n".join(_section(item)) + "\n"
        if len(text) + len(part) > LONGEST:
            return text + f"\n… and {len(shown) - number} more changes\n"
        text += part
    return text


def code(text: str) -> str:
    """The text as a code span, in which nothing has a meaning: no markup, no HTML, no mention."""
    text = "".join(char if char.isprintable() else "␣" for char in text) or "␣"
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def escape(text: str) -> str:
    """A sentence in which markup has no meaning; a mention or a link is broken by a character without width."""
    text = "".join(char if char.isprintable() else "␣" for char in text)
    return SPECIAL.sub(r"\\\1", text).replace("@", "@\u200b").replace("://", ":\u200b//")


def _section(item: Applied) -> Iterator[str]:
    change = item.change
    result = "" if item.result == "planned" else f": {item.result}"
    yield f"#### {SIGNS[change.verb]} {change.verb} {code(change.job)}{result}"
    if error := item.error or change.conflict:
        yield f"- ❌ {escape(error)}"
    for diff in change.diff:
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
