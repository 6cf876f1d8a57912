"""Text that stays text in Markdown, whatever it holds. Pure, and no more than a signal handler may need in the middle of an import."""

from __future__ import annotations

import re

from schedules.text.shown import printable

LONGEST = 60_000
"""Characters: GitHub takes 65,536 in a comment, GitLab a million."""
SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$-])")


def error_markdown(message: str) -> str:
    """What stands in the comment where there is no plan."""
    first, *more = message.splitlines() or [""]
    text = f"### Schedules\n\n❌ {escape(first)}\n"
    for number, line in enumerate(more):
        part = f"- {escape(line.strip())}\n"
        if len(text) + len(part) > LONGEST:
            return text + f"\n… and {len(more) - number} more lines\n"
        text += ("\n" if not number else "") + part
    return text


def code(text: str) -> str:
    """The text as a code span, in which nothing has a meaning: no markup, no HTML, no mention."""
    text = printable(text) or "␣"
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def escape(text: str) -> str:
    """A sentence in which markup has no meaning; a mention or a link is broken by a character without width."""
    text = printable(text)
    return SPECIAL.sub(r"\\\1", text).replace("@", "@\u200b").replace("://", ":\u200b//")
