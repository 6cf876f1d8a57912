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
BUSY = 0.8
"""Part of a processor from which on this process is what takes the time."""


@contextmanager
def progress(total: int, limit: Callable[[], str] = str) -> Iterator[Callable[[], None]]:
    """Gives the function to call after each step. `limit` names what holds requests back, "" for nothing here."""
    if total <= ENOUGH:
        yield lambda: None
        return
    reason = Reason(limit, time.monotonic, time.process_time)
    if sys.stderr.isatty():
        with _bar(total, reason) as advance:
            yield advance
    else:
        yield Lines(total, say, time.monotonic, reason)


class Reason:
    """Called now and then, says what it is that takes the time: a rate, this process since the last call, or the server."""

    def __init__(self, limit: Callable[[], str], clock: Callable[[], float], processor: Callable[[], float]) -> None:
        self._limit, self._clock, self._processor = limit, clock, processor
        self._clock_was, self._processor_was = clock(), processor()

    def __call__(self) -> str:
        """In words."""
        clock, processor = self._clock(), self._processor()
        busy = (processor - self._processor_was) / max(clock - self._clock_was, 0.001)
        self._clock_was, self._processor_was = clock, processor
        if found := self._limit():
            return found
        return "this machine's processor" if busy > BUSY else "the server, which takes this long to answer"


class Lines:
    """Called after each step, says now and then how far it is, how fast, how long it will still take, and what limits it."""

    def __init__(
        self, total: int, write: Callable[[str], None], clock: Callable[[], float], reason: Callable[[], str]
    ) -> None:
        self._total, self._write, self._clock, self._reason = total, write, clock, reason
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
            pace = f"{rate:.{0 if rate >= 10 else 1}f} a second, {left:.0f} s to go"  # noqa: PLR2004  two digits
            self._write(f"{self._done} of {self._total} changes, {pace}; limited by {self._reason()}")


@contextmanager
def _bar(total: int, reason: Callable[[], str]) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed or 0:.0f}/s")

    class LimitColumn(ProgressColumn):
        max_refresh = 1.0

        def render(self, _task: Any) -> Text:
            return Text(f"limited by {reason()}")

    columns = (
        TextColumn("applying"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
        LimitColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("applying", total=total)
        yield lambda: bar.advance(task)
