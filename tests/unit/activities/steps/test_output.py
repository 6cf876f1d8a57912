"""Bounds of what is stored, in the bytes that the SDK's converter makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from temporalio.converter import DataConverter

from activities.steps.output import MAX_OUTPUT, MAX_OUTPUTS, bound_all, bound_output

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


async def test_six_outputs_of_maximal_size_are_kept_whole() -> None:
    whole = ["x" * (MAX_OUTPUT - 2)] * 6
    assert bound_all(whole, MAX_OUTPUTS) == whole


@pytest.mark.parametrize("count", [11, 40, 500])
async def test_many_outputs_together_keep_the_limit(count: int) -> None:
    bound = bound_all(["😀" * 5_000] * count, MAX_OUTPUTS)
    assert await stored(bound) < MAX_OUTPUTS + 3 * count
    assert len(bound) == count
    assert all(output.endswith("… [cut, 5000 characters in all]") for output in bound)


def test_small_outputs_stay_whole_beside_large_ones() -> None:
    bound = bound_all(["small", {"rows": 3}, *["x" * 60_000] * 20], MAX_OUTPUTS)
    assert bound[:2] == ["small", {"rows": 3}]
    assert MAX_OUTPUTS * 0.99 < sum(len(json.dumps(output)) for output in bound) <= MAX_OUTPUTS


def test_what_is_cut_twice_says_how_long_it_was_at_first() -> None:
    once = bound_output("x" * 100_000, 1_000)
    assert bound_output(once, 500).endswith("x… [cut, 100000 characters in all]")
