"""JSON that every reader of the history can read: what Python writes and a strict parser refuses is made clean first. Pure."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

if TYPE_CHECKING:
    from collections.abc import Callable

PARSER_DEPTH = 200
"""Lists and mappings inside each other that pydantic's parser takes."""
MAX_DEPTH = 100
"""Those of a value: a run's result carries it some levels further in."""
TOO_DEEP = f"[JSON nested more than {MAX_DEPTH} deep, not kept]"

Path = tuple[str | int, ...]


def read_json(text: str | bytes) -> Any:
    """The value of a JSON document by RFC 8259. Raises ValueError, also for NaN, 1e999 and a nesting that Python cannot take."""
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deep") from None


def readable_text(text: str) -> str:
    """`text` with U+FFFD for each half of a character (a lone surrogate), which neither UTF-8 nor a failure's message can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def readable(value: Any, changed: Callable[[Path], None] = lambda _path: None) -> Any:
    """A JSON value that the parser of the worker's payloads reads; `changed` is called with the path of what is not kept.

    Halves of characters become U+FFFD, and what is nested deeper than MAX_DEPTH a text that says so.
    """
    return value if _passes(value) else _clean(value, (), changed)


def _passes(value: Any) -> bool:
    """Whether the parser itself takes the value, with so many levels around it that MAX_DEPTH is its limit."""
    around = PARSER_DEPTH - MAX_DEPTH
    try:
        from_json("[" * around + json.dumps(value) + "]" * around)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _clean(value: Any, path: Path, changed: Callable[[Path], None]) -> Any:
    if isinstance(value, str):
        return readable_text(value)
    if isinstance(value, dict | list | tuple):
        if len(path) >= MAX_DEPTH:
            changed(path)
            return TOO_DEEP
        if isinstance(value, dict):
            return {
                readable_text(str(key)): _clean(item, (*path, readable_text(str(key))), changed)
                for key, item in value.items()
            }
        return [_clean(item, (*path, index), changed) for index, item in enumerate(value)]
    return value


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is too large for a number")
    return number
