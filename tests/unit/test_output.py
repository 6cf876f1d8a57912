"""Bounds of what is stored, in the bytes that the SDK's converter makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from temporalio.converter import DataConverter

from activities.contract import JobResult, LastSuccess, StepResult
from activities.output import MAX_OUTPUT, MAX_OUTPUTS, bound_output, bound_result

SERVER_LIMIT = 2 * 1024 * 1024
"""Bytes of one blob, by default, of the server (limit.blobSize.error)."""
TEXTS = {"ascii": "x", "two bytes": "é", "emoji": "😀", "control": "\0", "quote": '"', "backslash": "\\"}


async def stored(value: Any) -> int:
    [payload] = await DataConverter.default.encode([value])
    return len(payload.data)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("shape", [lambda text: text, lambda text: {"a": [text, 1]}], ids=["text", "mapping"])
async def test_whatever_the_characters_an_output_keeps_the_limit_and_says_that_it_was_cut(
    text: str, shape: Any
) -> None:
    bound = bound_output(shape(TEXTS[text] * 1_000_000))
    assert MAX_OUTPUT * 0.99 < await stored(bound) <= MAX_OUTPUT
    assert "characters in all]" in bound[-40:]
    assert bound_output(bound) == bound


@pytest.mark.parametrize("value", ["x" * (MAX_OUTPUT - 2), {"a": "é" * 10_000}, [1.5, None, True], ""])
def test_what_fits_is_left_as_it_is(value: Any) -> None:
    assert bound_output(value) is value


def result(outputs: list[Any]) -> JobResult:
    steps = [StepResult(f"step-{number}", output, 1, 0.0) for number, output in enumerate(outputs)]
    last = LastSuccess("2027-03-01T13:00:00Z", {step.name: step.output for step in steps})
    return JobResult("succeeded", "2027-03-01T13:00:00Z", 0.0, 1.0, len(steps), steps, last_success=last)


async def test_ten_steps_of_maximal_output_are_kept_whole() -> None:
    whole = result(["x" * (MAX_OUTPUT - 2)] * 10)
    assert bound_result(whole) == whole
    assert await stored(whole) < SERVER_LIMIT


@pytest.mark.parametrize("count", [11, 40, 500])
async def test_the_result_of_many_steps_keeps_the_servers_limit(count: int) -> None:
    bound = bound_result(result(["😀" * 5_000] * count))
    assert await stored(bound) < SERVER_LIMIT
    assert len(bound.steps) == count
    assert all(step.output.endswith("… [cut, 5000 characters in all]") for step in bound.steps)


def test_small_outputs_stay_whole_beside_large_ones() -> None:
    bound = bound_result(result(["small", {"rows": 3}, *["x" * 60_000] * 20]))
    assert [step.output for step in bound.steps[:2]] == ["small", {"rows": 3}]
    assert bound.last_success is not None
    assert list(bound.last_success.outputs.values()) == [step.output for step in bound.steps]
    total = sum(len(json.dumps(step.output)) for step in bound.steps)
    assert MAX_OUTPUTS * 0.99 < total <= MAX_OUTPUTS
