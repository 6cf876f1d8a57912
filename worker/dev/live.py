"""Runs as a person at the terminal sees them: a live table, or without a terminal one line a run."""

from __future__ import annotations

import sys
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.table import Table

    from worker.dev.feed import FinishedRun

ROWS = 20
LATE = 1.0
"""Seconds from which a start is called late."""
COLOURS = {"succeeded": "green", "failed": "red", "timed_out": "red", "cancelled": "yellow"}


@contextmanager
def live_runs(footer: Callable[[], str]) -> Iterator[Callable[[FinishedRun], None]]:
    """Gives the function to call with each finished run."""
    if not sys.stdout.isatty():
        yield lambda finished: print(line(finished), flush=True)
        return
    from rich.live import Live

    rows: deque[FinishedRun] = deque(maxlen=ROWS)
    with Live(_table(rows, footer()), auto_refresh=False) as live:

        def show(finished: FinishedRun) -> None:
            rows.append(finished)
            live.update(_table(rows, footer()), refresh=True)

        yield show


def line(finished: FinishedRun) -> str:
    """One finished run in one line."""
    text = (
        f"{finished.job} {finished.scheduled_at} {finished.outcome} lateness={_seconds(finished.lateness)} "
        f"attempts={_or_dash(finished.attempts)} duration={_seconds(finished.duration)}"
    )
    return _plain(f"{text} {finished.reason or finished.printed}").rstrip()


def _table(rows: deque[FinishedRun], footer: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(
        Column("job", overflow="fold"),
        Column("scheduled time", no_wrap=True, min_width=len("2027-03-01T13:00:00Z")),
        "outcome",
        Column("duration", no_wrap=True),
        Column("printed, or why", no_wrap=True, overflow="ellipsis", ratio=1, min_width=len("printed, or why")),
        caption=Text(_plain(footer)),
        box=SIMPLE_HEAD,
        padding=(0, 1),
    )
    for run in rows:
        table.add_row(
            Text(_plain(run.job)),
            Text(_plain(run.scheduled_at)),
            Text(_plain(_outcome(run)), style=COLOURS.get(run.outcome, "")),
            _seconds(run.duration),
            Text(_plain(run.reason or run.printed)),
        )
    return table


def _outcome(run: FinishedRun) -> str:
    """With what is out of the usual: a start that was late, and attempts after the first."""
    late = f", {run.lateness:.0f} s late" if run.lateness is not None and run.lateness >= LATE else ""
    again = f", {run.attempts} attempts" if run.attempts is not None and run.attempts > 1 else ""
    return f"{run.outcome}{late}{again}"


def _plain(text: str) -> str:
    """One line without control characters: names and reasons come from elsewhere, and a terminal obeys what it is sent."""
    return "".join(char if char.isprintable() else " " for char in text)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}s"


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)
