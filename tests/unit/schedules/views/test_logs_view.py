"""What `logs --follow` shows: each text once, whatever of it a heartbeat had room for."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from schedules.ledger.attempt_output import Printed
from schedules.ledger.story import StepStory
from schedules.views.logs import LogText
from tests.factories import utc

STEP = StepStory("export", "run_step", utc("2027-03-01T13:00:00Z"), end="running", attempts=1)


def shown(*texts: str) -> str:
    """What is shown of a stream that had these texts, one after another."""
    log = LogText()
    steps = (replace(STEP, printed=(Printed(1, (("stdout", text),), live=True),)) for text in texts)
    return "".join(log.new([step]) for step in steps)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(600, 4000))
def test_each_line_is_shown_once(steps: list[int], room: int) -> None:
    """A window over numbered lines that never moves on by more than it holds."""
    lines, texts, count = [f"{number:06} {'x' * 20}\n" for number in range(300)], [], 0
    for step in steps:
        count += min(step, room // 28 - 19)
        texts.append("".join(lines[:count])[-room:])
    body = shown(*texts).replace("── export · attempt 1 · running · stdout\n", "")
    assert body == "".join(lines[:count])


@given(st.lists(st.sampled_from([".", "poll\nnot ready\n", "waiting\n"]), min_size=1, max_size=30))
def test_a_text_that_repeats_itself_is_shown_whole_as_it_grows(pieces: list[str]) -> None:
    texts = ["".join(pieces[:count]) for count in range(1, len(pieces) + 1)]
    log, body = LogText(), ""
    for text in texts:
        new = log.new([replace(STEP, printed=(Printed(1, (("stdout", text),), live=True),))])
        body += new.replace("── export · attempt 1 · running · stdout\n", "")
    assert body.replace("\n", "") == texts[-1].replace("\n", "")


def test_a_step_and_stream_stand_above_what_is_theirs() -> None:
    both = replace(
        STEP,
        end="succeeded",
        attempts=3,
        printed=(Printed(2, (("stderr", "no\n"), ("error", "exit 1"))), Printed(3, ())),
    )
    assert LogText().new([both]) == (
        "── export\nattempt 1: not kept, because the server keeps only the last failure\n"
        "── export · attempt 2 · failed · stderr\nno\n"
        "── export · attempt 2 · failed · error\nexit 1\n"
        "── export · attempt 3 · succeeded\nno output\n"
    )


def test_a_terminal_is_given_no_orders() -> None:
    assert shown("a\x1b[31m\u202e\r\tb\n").endswith("a␣\n\tb\n")


def test_lines_of_other_systems_and_colours_are_shown_once_as_they_grow() -> None:
    whole = "\x1b[31mred\x1b[0m\r\n50%\r100%\r\ndone\r\n"
    body = shown(*(whole[:end] for end in range(1, len(whole) + 1)))

    assert body.replace("── export · attempt 1 · running · stdout\n", "").replace("\n", "") == "red50%100%done"
