"""The minutes of a day in which nothing starts."""

from __future__ import annotations

from collections import Counter

from schedules.lint.starts import DAY, MINUTE, Starts

MONDAY = 4 * DAY
"""1970-01-05."""


def test_a_single_minute_is_quiet_too_and_the_longest_span_comes_first() -> None:
    busy = [minute for minute in range(24 * 60) if minute not in {7, 100, 101}]
    starts = Starts(MONDAY, 1, Counter(MONDAY + minute * MINUTE for minute in busy), [0.0] * (24 * 60))
    assert list(starts.quiet([0])) == [(100, 102), (7, 8)]
    assert list(starts.quiet([1])) == [(0, 24 * 60)]
