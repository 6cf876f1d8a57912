"""Runs as a person at the terminal sees them: a live table, or without a terminal one line a run."""

from __future__ import annotations

import sys
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from activities.steps.output import cut_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Group
    from rich.table import Table

    from worker.dev.feed import FinishedRun

ROWS = 20
JOBS, MAX_SAID = 6, 200
"""Jobs whose last words are shown, and characters of each."""
COLOURS = {"succeeded": "green", "failed": "red", "timed_out": "red", "cancelled": "yellow"}


@contextmanager
def live_runs(footer: Callable[[], str]) -> Iterator[Callable[[FinishedRun], None]]:
    """Gives the function to call with each finished run."""
    if not sys.stdout.isatty():
        yield lambda finished: print(line(finished), flush=True)
        return
    from rich.live import Live

    rows: deque[FinishedRun] = deque(maxlen=ROWS)
    with Live(_screen(rows, footer()), auto_refresh=False) as live:

        def show(finished: FinishedRun) -> None:
            rows.append(finished)
            live.update(_screen(rows, footer()), refresh=True)

        yield show


def line(finished: FinishedRun) -> str:
    """One finished run in one line."""
    text = (
        f"{finished.job} {finished.scheduled_at} {finished.outcome} lateness={_seconds(finished.lateness)} "
        f"attempts={_or_dash(finished.attempts)} duration={_seconds(finished.duration)}"
    )
    return _plain(f"{text} {finished.reason or finished.printed}").rstrip()


def _screen(rows: deque[FinishedRun], footer: str) -> Group:
    from rich.console import Group
    from rich.text import Text

    return Group(_table(rows), _last_words(rows), Text(_plain(footer), style="dim"))


def _last_words(rows: deque[FinishedRun]) -> Table:
    """What the newest run of each job printed last, or why it did not succeed."""
    from rich.table import Table
    from rich.text import Text

    table = Table("job", "printed last, or why it failed", box=None, padding=(0, 2, 0, 0))
    newest = {run.job: run for run in rows}
    for run in sorted(newest.values(), key=lambda run: run.scheduled_at)[-JOBS:]:
        if said := run.reason or run.printed:
            table.add_row(Text(_plain(run.job)), Text(cut_end(_plain(said), MAX_SAID)))
    return table


def _table(rows: deque[FinishedRun]) -> Table:
    from rich.table import Column, Table
    from rich.text import Text

    whole = Column("scheduled time", no_wrap=True, min_width=len("2027-03-01T13:00:00Z"))
    outcome = Column("outcome", min_width=len("succeeded"))
    table = Table("job", whole, "lateness", outcome, "attempts", "duration")
    for run in rows:
        table.add_row(
            Text(_plain(run.job)),
            Text(_plain(run.scheduled_at)),
            _seconds(run.lateness),
            Text(_plain(run.outcome), style=COLOURS.get(run.outcome, "")),
            _or_dash(run.attempts),
            _seconds(run.duration),
        )
    return table


def _plain(text: str) -> str:
    """One line without control characters: names and reasons come from elsewhere, and a terminal obeys what it is sent."""
    return "".join(char if char.isprintable() else " " for char in text)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}s"


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)
