"""Texts of any length in bounded memory, by what Python itself makes of the whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.steps.kept import HEAD, TAIL, Kept, size_text
from activities.steps.log_lines import LogLines, keep_line, use_log_lines
from activities.steps.redact import Redactor

MARK = re.compile(r"\n… \[(.+) in all, the first 1 KiB and the last 8 KiB kept\] …\n")


@settings(deadline=None)  # Up to 100,000 pieces, on a machine that others use, too.
@given(st.text("aü€😀", min_size=1, max_size=5), st.integers(1, 6_000), st.integers(1, 70_000))
def test_the_beginning_and_the_end_are_kept_and_no_half_of_a_character(unit: str, times: int, chunk: int) -> None:
    text = unit * times
    data = text.encode()
    kept = Kept()
    for at in range(0, len(data), chunk):
        kept.add(data[at : at + chunk])
    shown = kept.text(Redactor())
    assert kept.size == len(data)
    if len(data) <= HEAD + TAIL:
        assert shown == text
        return
    head, size, tail = MARK.split(shown)
    assert size == size_text(len(data))
    assert text.startswith(head)
    assert text.endswith(tail)
    assert HEAD - 4 < len(head.encode()) <= HEAD
    assert TAIL - 4 < len(tail.encode()) <= TAIL


def test_no_rest_of_a_secret_stands_at_the_cuts() -> None:
    redactor, kept = Redactor(), Kept()
    redactor.add("hunter22")
    kept.add(b"x" * (HEAD - 4) + b"hunter22" + b"y" * 20_000 + b"hunter22" + b"z" * (TAIL - 4))
    shown = redactor.text(kept.text(redactor))
    head, _, tail = MARK.split(shown)
    assert head == "x" * (HEAD - 4)
    assert tail == "z" * (TAIL - 4)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (3_200_000, "3.2 MB"), (5 * 10**9, "5.0 GB")],
)
def test_a_size_in_words(size: int, text: str) -> None:
    assert size_text(size) == text


def test_lines_of_an_attempt_are_kept_but_for_the_workers_own() -> None:
    lines = LogLines()
    use_log_lines(lines)
    event = {"timestamp": "2027-03-01T13:00:07.5Z", "level": "info", "event": "read", "job": "x", "rows": 3}
    assert keep_line(None, "info", event) is event
    keep_line(None, "info", {"event": "step started", "action": "step_started"})
    keep_line(None, "error", {"event": "broke", "exception": "Traceback\nValueError: x"})
    assert lines.text(Redactor()) == "13:00:07 info read rows=3\nbroke\nTraceback\nValueError: x\n"
