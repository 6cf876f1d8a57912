"""Durations: what they may look like, what they mean, and what is said about those that are none."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.text.duration import LONGEST, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("5m", 300),
        ("2h", 7_200),
        ("1d", 86_400),
        ("1h30m", 5_400),
        ("1d2h3m4s", 93_784),
        ("90m", 5_400),
        ("0s", 0),
        ("007s", 7),
        ("36500d", 3_153_600_000),
    ],
)
def test_text_means_whole_seconds(text: str, seconds: int) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "s", "5", "5x", "5M", "-5m", "5 m", " 5m", "5m\n", "1.5h", "1m1h", "5m5m", "500ms", "٣s"]
)
def test_other_text_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match=r'is not a duration; write for example "30s", "5m", "2h", "1d" or "1h30m"'):
        parse_duration(text)


@pytest.mark.parametrize("text", ["36501d", "36500d1s", "999999999999d", "9999999999h"])
def test_more_than_a_century_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is too long; write 36500d at most"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (30, '30 has no unit; write "30s" for seconds or "30m" for minutes'),
        (1.5, '1.5 is not a duration; write whole numbers with a unit, for example "90s" or "1m30s"'),
        (True, "must be a duration, not true; write for example"),
        (None, "must be a duration, not nothing; write for example"),
        (["5m"], "must be a duration, not a list; write for example"),
    ],
)
def test_what_is_not_text_is_refused_with_what_to_write(value: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the text is compared below
        parse_duration(value)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("value", [timedelta(milliseconds=1500), timedelta(seconds=-1), timedelta(days=36_501)])
def test_a_timedelta_is_held_to_the_same_bounds(value: timedelta) -> None:
    with pytest.raises(ValueError, match="is out of range"):
        parse_duration(value)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59, "59s"), (60, "1m"), (5_400, "1h30m"), (86_400, "1d"), (129_600, "1d12h"), (93_784, "1d2h3m4s")],
)
def test_a_duration_is_written_in_the_largest_units(seconds: int, text: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == text


@given(st.integers(min_value=0, max_value=int(LONGEST.total_seconds())))
def test_what_is_written_is_read_back(seconds: int) -> None:
    assert parse_duration(format_duration(timedelta(seconds=seconds))) == timedelta(seconds=seconds)
