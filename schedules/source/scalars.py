"""Scalars by the YAML 1.2 core schema: no `yes`, no 12:30 as a number, no dates.

https://yaml.org/spec/1.2.2/#103-core-schema
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

PREFIX = "tag:yaml.org,2002:"
STR, NULL, BOOL, INT, FLOAT = (PREFIX + kind for kind in ("str", "null", "bool", "int", "float"))
MAP, SEQ = PREFIX + "map", PREFIX + "seq"

_WORDS = {
    "": NULL, "~": NULL, "null": NULL, "Null": NULL, "NULL": NULL,
    "true": BOOL, "True": BOOL, "TRUE": BOOL, "false": BOOL, "False": BOOL, "FALSE": BOOL,
}  # fmt: skip
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
)
_NUMBER_STARTS = frozenset("0123456789+-.")
_LONGEST_NUMBER = 400


def tag_of(text: str) -> str:
    """The core schema's tag for a plain scalar."""
    if text[:1] in _NUMBER_STARTS and text:
        if _INT.fullmatch(text):
            return INT
        return FLOAT if _FLOAT.fullmatch(text) else STR
    return _WORDS.get(text, STR)


def value_of(tag: str, text: str) -> object:
    """The value of a scalar with a core tag. ValueError: the text is not of the tag, or JSON cannot carry it."""
    return text if tag == STR else _READERS[tag](text)


def _read_null(text: str) -> None:
    if _WORDS.get(text) != NULL:
        raise ValueError("is not null; remove the tag `!!null`")


def _read_bool(text: str) -> bool:
    if _WORDS.get(text) != BOOL:
        raise ValueError("is neither true nor false; write one of the two")
    return text[0] in "tT"


def _read_int(text: str) -> int:
    if not _INT.fullmatch(text):
        raise ValueError("is not a whole number; remove the tag `!!int`")
    if len(text) > _LONGEST_NUMBER:
        raise ValueError("has too many digits for a number; put it in quotes")
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    return int(text, base)


def _read_float(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise ValueError("is not a number; remove the tag `!!float`")
    value = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if not math.isfinite(value):
        raise ValueError("is not a number that JSON can carry; put it in quotes if it is text")
    return value


_READERS: dict[str, Callable[[str], object]] = {NULL: _read_null, BOOL: _read_bool, INT: _read_int, FLOAT: _read_float}
SCALARS = frozenset({STR, *_READERS})
