"""Keeps what a step gives back within bounds, and JSON. Pure."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from activities.steps.readable import readable

MAX_OUTPUT = 64 * 1024
MAX_OUTPUTS = 6 * MAX_OUTPUT
"""Bytes of all the outputs of a run; the server takes 2 MiB, and the SDK warns from 512 KiB on."""
MAX_MESSAGE = 2 * 1024
ROOM_FOR_MARK = 64
_MARK = re.compile(r"… \[cut, (\d+) characters in all\]\Z")


def to_json(value: Any) -> Any:
    """`value` as plain JSON values; models, dataclasses, dates and the like become what pydantic makes of them.

    Raises ValueError that says what is no JSON.
    """
    try:
        plain = _jsonable(value)
        json.dumps(plain, allow_nan=False)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"a {type(value).__name__} that is not JSON: {error}") from None
    return plain


def _jsonable(value: Any) -> Any:
    try:
        return to_jsonable_python(value)
    except UnicodeEncodeError:  # Half of a character in a key, which pydantic refuses; in a text it does not.
        return to_jsonable_python(readable(value))


def bound_output(value: Any, limit: int = MAX_OUTPUT) -> Any:
    """A JSON value that takes at most `limit` bytes to store; of a larger one, the start of its text with a mark."""
    if stored_size(value) <= limit:
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    most = max(limit - ROOM_FOR_MARK, 0)
    return cut_end(text, bisect_right(range(1, most + 1), most, key=lambda count: stored_size(text[:count])))


def stored_size(value: Any) -> int:
    """Bytes of a JSON value in the history: the SDK writes ASCII, so that an emoji takes twelve."""
    return len(json.dumps(value, separators=(",", ":")))


def bound_all(values: Sequence[Any], limit: int) -> list[Any]:
    """JSON values that take at most `limit` bytes together to store: those above a fair share of it are cut if need be."""
    share = _share([stored_size(value) for value in values], limit)
    return [bound_output(value, share) for value in values]


def cut_end(text: str, limit: int) -> str:
    """The first `limit` characters, with a mark when that is not all; what has a mark keeps its count."""
    if len(text) <= limit:
        return text
    cut_before = _MARK.search(text)
    return f"{text[:limit]}… [cut, {cut_before[1] if cut_before else len(text)} characters in all]"


def _share(sizes: Sequence[int], limit: int) -> int:
    """How large each may be, so that together they keep the limit and none is cut without need."""
    left = limit
    for index, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - index)
        if size > share:
            return share
        left -= size
    return limit
