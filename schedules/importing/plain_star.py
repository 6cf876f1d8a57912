"""Cron as Ruby's fugit and Go's cronexpr (Nomad) read it: what it means, and the expression of a spec that means the same. Pure.

Both let either day field suffice unless one of them is a star, take `5/15` for `5-59/15`, and 7 for Sunday. Tried on fugit 1.5 and
cronexpr 1.0 with random expressions.
"""

from __future__ import annotations

import re
from typing import Final

from schedules.importing import fields
from schedules.importing.fields import MACROS, SUNDAY_0, Grammar
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import OldRule

GRAMMAR: Final = Grammar(SUNDAY_0, "literal", start_step=True, seven=True)
RANGES: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
DAY, WEEKDAY = 2, 4
STARS: Final = frozenset({"*", "?"})
_FROM = re.compile(r"(\d+)/(\d+)")
_EVERY = re.compile(r"\*/(\d+)")


def cronexpr(text: str, zone: str) -> tuple[OldRule, str]:
    """The old meaning, and the expression of the spec. Raises ImportProblem."""
    parts = MACROS.get(text, text).split()
    if len(parts) == len(RANGES) and not {parts[DAY], parts[WEEKDAY]} & STARS and _late_days_alone(parts[DAY]):
        raise ImportProblem(
            f"`{text}`: in a month without day {parts[DAY]} Nomad leaves out its weekdays, too: at which times does it run?"
        )
    return _rule(text, zone), _explicit(text)


def fugit(text: str, zone: str) -> tuple[OldRule, str]:
    """The old meaning, and the expression of the spec: `*/1` as day of the month is a star here. Raises ImportProblem."""
    parts = MACROS.get(text, text).split()
    if alone := next((part for part in parts if re.search(r"(?:^|,)\d+/1(?:$|,)", part)), None):
        raise ImportProblem(
            f"fugit reads `{alone}` as its first number alone: is that meant, or each one from there on?"
        )
    if len(parts) > DAY and parts[DAY] == "*/1":
        parts[DAY] = "*"
    text = " ".join(parts)
    return _rule(text, zone), _explicit(text)


def _late_days_alone(field: str) -> bool:
    return min(fields.numbers(field, 1, 31, GRAMMAR)) > 28  # noqa: PLR2004  the days that every month has


def _rule(text: str, zone: str) -> OldRule:
    return fields.five_fields(MACROS.get(text, text), zone, GRAMMAR, lambda field, _other: field in STARS)


def _explicit(text: str) -> str:
    """With the end of each step that begins at a number, and without a star in a day field that is none of all days."""
    parts = MACROS.get(text, text).split()
    return " ".join(_explicit_field(part, number) for number, part in enumerate(parts))


def _explicit_field(part: str, number: int) -> str:
    low, high = RANGES[number]
    items = []
    for item in part.split(","):
        if match := _FROM.fullmatch(item):
            items.append(f"{match[1]}-{high}/{match[2]}")
        elif (match := _EVERY.fullmatch(item)) and number in {DAY, WEEKDAY}:
            items.append(f"{low}-{high}" if match[1] == "1" else f"{low}-{high}/{match[1]}")
        else:
            items.append(item)
    return ",".join(items)
