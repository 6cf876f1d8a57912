"""Keeps what a step gives back within bounds, and JSON. Pure."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

MAX_OUTPUT = 64 * 1024
MAX_MESSAGE = 2 * 1024


def to_json(value: Any) -> Any:
    """`value` as plain JSON values; models, dataclasses, dates and the like become what pydantic makes of them.

    Raises ValueError that says what is no JSON.
    """
    try:
        plain = to_jsonable_python(value)
        json.dumps(plain, allow_nan=False)
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"a {type(value).__name__} that is not JSON: {error}") from None
    return plain


def bound_output(value: Any, limit: int = MAX_OUTPUT) -> Any:
    """A JSON value whose text has at most `limit` characters; of a larger one, the start of its text with a mark."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= limit else cut_end(text, limit)


def cut_end(text: str, limit: int) -> str:
    """The first `limit` characters, with a mark when that is not all."""
    return text if len(text) <= limit else f"{text[:limit]}… [cut, {len(text)} characters in all]"


def printable(text: str) -> str:
    """`text` without lone surrogates (file names that are no UTF-8), which a failure's message cannot hold."""
    return text.encode("utf-8", "replace").decode()
