"""A value of a spec as messages show it: short, on one line, recognisable."""

from __future__ import annotations

import json
from collections.abc import Sequence

_LONGEST = 60


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


def some_of(names: Sequence[str], most: int) -> str:
    """`a, b, c and 4 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")
