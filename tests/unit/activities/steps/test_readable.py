"""Values that every JSON parser reads, by two strict ones: pydantic's, and UTF-8 itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from activities.steps.readable import MAX_DEPTH, PARSER_DEPTH, read_json, readable, readable_text

HALVES = st.text(st.characters(codec=None, categories=("L", "Cs", "Zl")), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | HALVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HALVES, inner, max_size=3),
)


def nested(value: Any, depth: int) -> Any:
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


@given(VALUES, st.sampled_from([0, 1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 250, 500]))
def test_whatever_it_was_a_strict_parser_reads_it(value: Any, depth: int) -> None:
    changed: list[tuple[str | int, ...]] = []
    clean = readable(nested(value, depth), changed.append)
    text = json.dumps(clean, ensure_ascii=False)
    text.encode("utf-8", "strict")
    around = PARSER_DEPTH - MAX_DEPTH
    assert from_json("[" * around + json.dumps(clean) + "]" * around)
    assert readable(clean) == clean
    assert all(len(path) == MAX_DEPTH for path in changed)


@pytest.mark.parametrize("value", ["é😀", {"a": [1.5, None, True, "\u2028"]}, nested(1, MAX_DEPTH)])
def test_what_is_readable_is_left_as_it_is(value: Any) -> None:
    assert readable(value) is value


def test_two_halves_that_belong_together_become_one_character() -> None:
    assert readable_text("\ud83d\ude00 \ude00\ud83d") == "😀 \ufffd\ufffd"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "[-Infinity]", "1e999", '{"a": -1e400}', "[" * 100_000, "{", ""])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)


def test_the_rest_of_json_is_read() -> None:
    assert read_json(b'{"a": [1e308, 1E-400, 12345678901234567890, "\\ud83d"]}') == {
        "a": [1e308, 0.0, 12345678901234567890, "\ud83d"]
    }
