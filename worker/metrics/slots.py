"""The places for steps: how many are taken, and since when all of them are."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 60.0
"""Seconds for which all places may be taken without a word about it."""


class Slots:
    """Counts steps that run; `limit` None: there are places without end."""

    def __init__(self, limit: int | None = None, clock: Callable[[], float] = monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._taken = 0
        self._full_since: float | None = None

    def take(self) -> None:
        """A step began."""
        self._taken += 1
        if self._taken == self.limit:
            self._full_since = self._clock()

    def give_back(self) -> None:
        """A step ended."""
        self._taken -= 1
        self._full_since = None

    def remark(self) -> str:
        """What is to be said of them; empty for nothing."""
        if self._full_since is None or (seconds := self._clock() - self._full_since) < LONG:
            return ""
        return f"all {self.limit} places for steps have been taken for {seconds:.0f} s; other steps wait"
