"""Keeps what a step gives back within bounds, and JSON. Pure."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from activities.contract import JobResult, LastSuccess, StepResult

MAX_OUTPUT = 64 * 1024
MAX_OUTPUTS = 10 * MAX_OUTPUT
"""Bytes of all the outputs of a run; its result may have them twice, and the server takes 2 MiB."""
MAX_MESSAGE = 2 * 1024
ROOM_FOR_MARK = 64


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
    """A JSON value that takes at most `limit` bytes to store; of a larger one, the start of its text with a mark."""
    if stored_size(value) <= limit:
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    most = max(limit - ROOM_FOR_MARK, 0)
    return cut_end(text, bisect_right(range(1, most + 1), most, key=lambda count: stored_size(text[:count])))


def bound_result(result: JobResult, limit: int = MAX_OUTPUTS) -> JobResult:
    """The result with at most `limit` bytes of outputs, those of its steps and those of its last success each."""
    last = result.last_success
    return replace(
        result,
        steps=_bounded_steps(result.steps, limit),
        last_success=last and replace(last, outputs=_bounded_outputs(last, limit)),
    )


def stored_size(value: Any) -> int:
    """Bytes of a JSON value in the history: the SDK writes ASCII, so that an emoji takes twelve."""
    return len(json.dumps(value, separators=(",", ":")))


def cut_end(text: str, limit: int) -> str:
    """The first `limit` characters, with a mark when that is not all."""
    return text if len(text) <= limit else f"{text[:limit]}… [cut, {len(text)} characters in all]"


def printable(text: str) -> str:
    """`text` without lone surrogates (file names that are no UTF-8), which a failure's message cannot hold."""
    return text.encode("utf-8", "replace").decode()


def _bounded_steps(steps: Sequence[StepResult], limit: int) -> list[StepResult]:
    share = _share([stored_size(step.output) for step in steps], limit)
    return [replace(step, output=bound_output(step.output, share)) for step in steps]


def _bounded_outputs(last: LastSuccess, limit: int) -> dict[str, Any]:
    share = _share([stored_size(output) for output in last.outputs.values()], limit)
    return {name: bound_output(output, share) for name, output in last.outputs.items()}


def _share(sizes: Sequence[int], limit: int) -> int:
    """How large each may be, so that together they keep the limit and none is cut without need."""
    left = limit
    for index, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - index)
        if size > share:
            return share
        left -= size
    return limit
