"""What a terminal is sent."""

from __future__ import annotations

import pytest

from schedules.console.terminal import say
from schedules.errors import Location, Problem
from schedules.text.shown import shown

TURNED, BELL, COLOUR = "\u202e", "\a", "\x1b[31m"


def test_a_message_does_nothing_to_the_terminal_but_stand_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Names, notes and reasons in it may be from anybody; its own lines stay lines."""
    say(f"job `a{TURNED}b`\nreason: {COLOUR}red{BELL}\tend")
    assert capsys.readouterr().err == "job `a␣b`\nreason: ␣[31mred␣␣end\n"


def test_a_value_of_a_spec_is_shown_on_one_line_in_the_order_of_its_characters() -> None:
    assert shown(f"pay{TURNED}roll\n") == '"pay␣roll\\n"'


def test_a_problem_is_one_line_whatever_the_key_is_called() -> None:
    assert str(Problem(Location("a.yaml", 3, 5), "jobs.a.run.http.json.x\ny", "is unknown")) == (
        "a.yaml:3:5: jobs.a.run.http.json.x␣y: is unknown"
    )
