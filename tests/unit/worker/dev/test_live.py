"""What is shown of finished runs, also of those with hostile words in them."""

from __future__ import annotations

import io
import re
from collections import deque
from typing import Any

import pytest
from rich.console import Console

from worker.dev.feed import FinishedRun
from worker.dev.live import _screen, line, live_runs

HOSTILE = "[red]x[/red] [link=file:///etc]y[/link] [/]"


def run(**fields: Any) -> FinishedRun:
    given = {"lateness": 0.25, "attempts": 2, "duration": 1.5}
    return FinishedRun(
        **{"job": "sync", "scheduled_at": "2027-03-01T13:00:00Z", "outcome": "failed", **given, **fields}
    )


def on_screen(*runs: FinishedRun, footer: str = "", width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system="truecolor")
    console.print(_screen(deque(runs), footer))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_run_is_one_line_with_its_facts() -> None:
    shown = line(run(reason="step run: exit code 3"))
    assert shown == ("sync 2027-03-01T13:00:00Z failed lateness=0.25s attempts=2 duration=1.50s step run: exit code 3")


def test_a_run_that_succeeded_shows_what_it_printed_last() -> None:
    quiet = {"outcome": "succeeded", "attempts": 1, "printed": "12 invoices sent"}
    assert line(run(**quiet)).endswith(" duration=1.50s 12 invoices sent")
    for said in ("sync", "succeeded", "12 invoices sent"):
        assert said in on_screen(run(**quiet), width=80)


def test_under_the_table_stands_what_the_newest_run_of_a_job_printed_or_why_it_failed() -> None:
    shown = on_screen(
        run(reason="step run: exit code 3"), run(job="hello", outcome="succeeded", printed="hi"), width=80
    )
    assert "step run: exit code 3" in shown
    assert re.search(r"hello +hi", shown)
    assert "exit code 3" not in on_screen(run(reason="exit code 3"), run(outcome="succeeded", printed="hi"), width=80)


def test_what_is_not_known_is_a_dash() -> None:
    shown = line(run(outcome="terminated", lateness=None, attempts=None, duration=None))
    assert shown == "sync 2027-03-01T13:00:00Z terminated lateness=- attempts=- duration=-"


@pytest.mark.parametrize("text", ["two\nlines", "a\rb", "\x1b[2Jgone", "\x9b2J", "bell\a", "\u2028", "\u202eevil"])
def test_a_line_stays_one_line_and_sends_the_terminal_no_commands(text: str) -> None:
    shown = line(run(reason=text, job=text))
    assert len(shown.splitlines()) == 1
    assert shown.isprintable()


def test_the_scheduled_time_is_whole_on_80_columns() -> None:
    assert "2027-03-01T13:00:00Z" in on_screen(run(job="the-name-of-a-job-that-is-rather-long-for-a-column"), width=80)


def test_rich_markup_in_names_is_shown_and_not_obeyed() -> None:
    shown = on_screen(
        run(job=HOSTILE, scheduled_at=HOSTILE, outcome=HOSTILE, reason=HOSTILE), footer=HOSTILE, width=400
    )
    assert shown.count(HOSTILE) == 6


def test_the_table_sends_no_commands_of_names_to_the_terminal() -> None:
    shown = on_screen(run(job="\x1b[2Jgone", scheduled_at="\x1b]0;title\a", outcome="\x1b[2J"), footer="\x1b[2J")
    assert "\x1b[2J" not in shown
    assert "\x1b]0;" not in shown


def test_outcomes_have_colours_of_their_own() -> None:
    green, red = "\x1b[32m", "\x1b[31m"
    assert f"{green}succeeded" in on_screen(run(outcome="succeeded"))
    assert f"{red}failed" in on_screen(run(outcome="failed"))
    assert f"{red}timed_out" in on_screen(run(outcome="timed_out"))


def test_without_a_terminal_each_run_is_printed_as_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with live_runs(lambda: "") as show:
        show(run())
        show(run(job="other"))
    assert [text.split()[0] for text in capsys.readouterr().out.splitlines()] == ["sync", "other"]
