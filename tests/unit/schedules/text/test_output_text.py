"""What programs print reaches a terminal as lines: nothing in it moves the cursor, changes colours or the title."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.text.shown import output_text


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("plain\n\tindented\n", "plain\n\tindented\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("1%\r50%\r100%\r\n", "1%\n50%\n100%\n"),
        ("\x1b[31mred\x1b[0m and \x1b[1;38;5;200mpink\x1b[m", "red and pink"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;https://x.example/\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended\nnext line", "\nnext line"),
        ("\x1bPq~~\x1b\\picture", "picture"),
        ("\x1bcreset\x1b(Bcharset\x1b=keypad", "resetcharsetkeypad"),
        ("\x9b31mred\x9d0;title\x9ctext", "redtext"),
        ("bell\x07 back\x08 nul\x00 \u202eturned", "bell␣ back␣ nul␣ ␣turned"),
        ("cut off \x1b[3", "cut off "),
    ],
)
def test_escape_sequences_are_gone_and_other_controls_are_seen(printed: str, shown: str) -> None:
    assert output_text(printed) == shown


PIECES = st.sampled_from(
    ["a", "b\n", "\r", "\r\n", "\n", "\x1b[31m", "\x1b", "[", "]0;t", "\x07", "\x1b\\", "m", "\x9b", "ü"]
)


@given(st.lists(PIECES))
def test_no_control_character_is_left(pieces: list[str]) -> None:
    assert all(char.isprintable() or char in "\n\t" for char in output_text("".join(pieces)))
