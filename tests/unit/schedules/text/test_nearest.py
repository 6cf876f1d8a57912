"""Near misses: what is suggested for a mistyped word."""

from __future__ import annotations

import pytest

from schedules.text.nearest import nearest, suggestion


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("timout", ["timeout", "timezone"], ["timeout"]),
        ("TIMEOUT", ["timeout", "heartbeat_timeout"], ["timeout"]),
        ("buffer", ["buffer_all", "skip", "buffer_one"], ["buffer_all", "buffer_one"]),
        ("catchup", ["timeout", "retry"], []),
        ("", ["timeout"], []),
        ("timeout", [], []),
        ("job-5", ["job-1", "job-2", "job-3", "job-4"], ["job-1", "job-2", "job-3"]),
    ],
)
def test_only_words_that_are_about_as_close_as_the_closest(word: str, known: list[str], expected: list[str]) -> None:
    assert nearest(word, known) == expected


@pytest.mark.parametrize(
    ("word", "known"),
    [("include", "exclude"), ("unpaused", "paused"), ("min_attempts", "max_attempts"), ("on_success", "on_failure")],
)
def test_a_word_that_says_the_opposite_is_no_near_miss(word: str, known: str) -> None:
    assert nearest(word, [known]) == []
    assert nearest(known, [word]) == []


def test_without_a_near_miss_the_known_words_are_listed() -> None:
    assert suggestion("x", ["alpha", "beta"], "keys") == "known keys: alpha, beta"
    assert suggestion("x", [], "jobs") == "there are no jobs"


def test_a_long_list_of_known_words_is_cut() -> None:
    words = [f"word-{n}" for n in range(25)]

    assert suggestion("x", words, "jobs") == f"known jobs: {', '.join(words[:20])} and 5 more"
