"""The last lines that a failed step has put out, as people want to see them first. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from temporalio.exceptions import ApplicationError

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES, CHARACTERS = 20, 1_500
SOURCES = ("stdout", "stderr", "body", "traceback")
"""Keys of a failure's details that hold what was put out, by a command, a service and a Python handler."""


def last_lines(error: BaseException | None) -> str:
    """At most LINES lines and CHARACTERS characters from each source; empty where there are none."""
    facts = next(_facts(error), {})
    return "\n".join(text for name in SOURCES if (text := _end_of(facts.get(name))))


def _facts(error: BaseException | None) -> Iterator[dict[str, Any]]:
    while error is not None:
        if isinstance(error, ApplicationError) and error.details and isinstance(error.details[0], dict):
            yield error.details[0]
        error = error.__cause__


def _end_of(value: Any) -> str:
    if value in (None, ""):
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "\n".join(text.rstrip().split("\n")[-LINES:])[-CHARACTERS:]
