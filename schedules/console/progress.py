"""The progress of a long sync: a bar for a person at a terminal, a line every few seconds for a log."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from schedules.console.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENOUGH = 50
"""Fewer changes than this are done before a bar could be read."""
EVERY = 5.0
"""Seconds between two lines in a log."""


@contextmanager
def progress(total: int) -> Iterator[Callable[[], None]]:
    """Gives the function to call after each step."""
    if total <= ENOUGH:
        yield lambda: None
    elif sys.stderr.isatty():
        with _bar(total) as advance:
            yield advance
    else:
        yield Lines(total, say, time.monotonic)


class Lines:
    """Called after each step, says now and then how far it is, how fast, and how long it will still take."""

    def __init__(self, total: int, write: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._total, self._write, self._clock = total, write, clock
        self._done = 0
        self._begun = self._said = clock()

    def __call__(self) -> None:
        """One more is done."""
        self._done += 1
        now = self._clock()
        if now - self._said >= EVERY:
            self._said = now
            rate = self._done / (now - self._begun)
            left = (self._total - self._done) / rate
            self._write(f"{self._done} of {self._total} changes, {rate:.0f} a second, {left:.0f} s to go")


@contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed or 0:.0f}/s")

    columns = (TextColumn("applying"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("applying", total=total)
        yield lambda: bar.advance(task)
