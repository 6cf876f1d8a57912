"""YAML as spec files mean it: the 1.2 core schema, JSON included."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.source.compose import compose
from schedules.source.construct import Constructor
from schedules.source.json_text import as_yaml
from schedules.source.malformed import Malformed


def read(text: str) -> Any:
    return Constructor().value(compose(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None), ("Null", None), ("~", None), ("", None),
        ("true", True), ("FALSE", False), ("yes", "yes"), ("No", "No"), ("on", "on"), ("y", "y"), ("tRUE", "tRUE"),
        ("0", 0), ("-19", -19), ("+7", 7), ("010", 10), ("0o14", 12), ("0x3A", 58), ("0b1", "0b1"), ("1_000", "1_000"),
        ("1.5", 1.5), ("-.5", -0.5), ("1e3", 1000.0), ("12.", 12.0), ("1E-2", 0.01), (".", "."), ("+", "+"),
        ("12:30", "12:30"), ("1:30:00", "1:30:00"), ("2027-03-01", "2027-03-01"),
        ("2027-03-01T09:00:00Z", "2027-03-01T09:00:00Z"),
        ("'1'", "1"), ('"true"', "true"), ("!!str 5", "5"), ("!!int '5'", 5), ("!!float 1", 1.0), ("!!null ''", None),
        ("=", "="), ("1 # one", 1), ("a#b", "a#b"),
    ],
)  # fmt: skip
def test_a_scalar_is_what_the_core_schema_says(text: str, value: object) -> None:
    got = read(f"key: {text}\n")["key"]

    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize("text", ["- 1\n- 2", "-", "--- a", "..."])
def test_what_looks_like_a_number_at_first_may_be_none(text: str) -> None:
    with pytest.raises(Malformed):
        compose(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".nan", "is not a number that JSON can carry"),
        ("-.INF", "is not a number that JSON can carry"),
        ("1e999", "is not a number that JSON can carry"),
        ("9" * 401, "has too many digits for a number"),
        ("!!int five", "is not a whole number"),
        ("!!bool 1", "is neither true nor false"),
        ("!!float five", "is not a number"),
        ("!!null none", "is not null"),
        ("!!binary aGk=", "the tag `!!binary` is not known here"),
        ("!!timestamp 2027-03-01", "the tag `!!timestamp` is not known here"),
        ("!!set {a}", "the tag `!!set` is not known here"),
        ("!!str [a]", "the tag `!!str` is not known here"),
        ("!!str {a: b}", "the tag `!!str` is not known here"),
        ("!!map [a]", "the tag `!!map` is not known here"),
    ],
)
def test_what_no_spec_needs_is_refused(text: str, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        read(f"key: {text}\n")


def test_keys_are_text_whatever_they_look_like() -> None:
    assert read("1: a\ntrue: b\n~: c\n2027-03-01: d\n") == {"1": "a", "true": "b", "~": "c", "2027-03-01": "d"}


@pytest.mark.parametrize("text", ["a: 1\n'a': 2\n", "1: a\n'1': b\n", "x: &x {a: 1}\nb: {<<: *x, <<: *x}\n"])
def test_a_key_stands_once_however_it_is_quoted(text: str) -> None:
    with pytest.raises(Malformed, match=r"stands in line \d already; keep one"):
        read(text)


def test_a_merge_gives_way_to_what_is_written_and_the_first_of_several_wins() -> None:
    text = "x: &x {a: x, b: x, c: x}\ny: &y {a: y, d: y}\nz: {<<: [*x, *y], b: z}\n"

    assert read(text)["z"] == {"a": "x", "b": "z", "c": "x", "d": "y"}


def test_a_merge_sign_in_quotes_is_a_key() -> None:
    assert read('a: {"<<": 1}\n') == {"a": {"<<": 1}}


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]\n",
        "a: &a {b: {c: *a}}\n",
        "a: &a {<<: *a}\n",
        "a: &a\n  b: &b {c: *a}\n  d: {<<: *b}\n",
    ],
)
def test_what_holds_itself_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="holds itself through an alias"):
        read(text)


def test_a_hundred_levels_are_fine_and_more_are_not() -> None:
    assert read("a: " + "[" * 98 + "]" * 98)
    with pytest.raises(Malformed, match="is nested deeper than 100 levels"):
        read("a: " + "[" * 101 + "]" * 101)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000,
    "\n".join(" " * n + "a:" for n in range(2_000))],
    ids=["brackets", "braces", "mappings", "dashes", "question-marks", "indentation"],
)  # fmt: skip
def test_depth_without_end_is_refused_and_nothing_breaks(text: str) -> None:
    with pytest.raises(Malformed):
        compose(text)


@pytest.mark.parametrize(
    "text",
    [
        "a \u2028 b",
        "a \u2029 b",
        "a \x85 b",
        "a\x7fb",
        "\ufeff",
        "\uffff",
        "\U0001f600",
        "\\ud83d\\ude00",
        "\\\U0001f600",
        "\x00\x1f",
    ],
    ids=ascii,
)
def test_json_text_keeps_every_character(text: str) -> None:
    for ascii_only in (True, False):
        assert read(as_yaml(json.dumps({"key": text}, ensure_ascii=ascii_only))) == {"key": text}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=20,
)


@given(
    value=st.dictionaries(st.text(max_size=20), JSON, max_size=5),
    indent=st.sampled_from([None, 0, 2, "\t"]),
    ascii_only=st.booleans(),
)
def test_json_means_what_json_says(value: dict[str, Any], indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert read(as_yaml(text)) == json.loads(text)
