"""A value of a spec as messages show it: short, on one line, recognisable."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_LONGEST = 60
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|\Z)"  # colours and moves of the cursor (CSI)
    r"|(?:\x1b[]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c|\x1b?\Z)?"  # titles, links and the like (OSC)
    r"|\x1b(?:[ -/]*(?:[0-Z\\^-~]|\Z))"
)
_LINE_ENDS = re.compile(r"\r*\n|\r+")


def shown(value: object) -> str:
    """Text in quotes, cut after 60 characters; numbers and booleans as YAML writes them; collections by their kind."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return printable(
                json.dumps(value if len(value) <= _LONGEST else value[:_LONGEST] + "…", ensure_ascii=False)
            )
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return str(value)[:_LONGEST]


def printable(text: str) -> str:
    """One line that shows as it is: what others wrote on the server may hold anything."""
    return "".join(char if char.isprintable() else "␣" for char in text)


def output_text(text: str) -> str:
    """Lines of a program as a terminal may show them: without colours and other escape sequences, each line on its own.

    Of a text that grows, what is shown grows, too.
    """
    lines = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    return "".join(char if char.isprintable() or char in "\n\t" else "␣" for char in lines)


def some_of(names: Sequence[str], most: int) -> str:
    """`a, b, c and 4 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
