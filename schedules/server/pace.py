"""The pace of requests: as many a second as allowed, and fewer once the server says that it is too much."""

from __future__ import annotations

import asyncio
import time
from collections import deque

SLOWEST = 1.0
"""Requests a second that are tried however often the server refuses."""
SLOWER, FASTER = 0.7, 0.1
"""A refusal leaves this part of the rate; each answer adds this much to it."""
REMEMBERED = 50
RECENT = 10.0
"""Seconds after a refusal in which it still counts as the reason."""


class Pace:
    """A token bucket that holds one token: with a rate, requests are spaced evenly; without one, all pass at once.

    After `slow_down` there is a rate in any case: a part of what was reached, growing again with every answer.
    """

    def __init__(self, most: float | None = None) -> None:
        """`most` is requests a second, never exceeded."""
        self.rate = most
        self._most = most
        self._free_at = 0.0
        self._slowed_at = float("-inf")
        self._begun: deque[float] = deque(maxlen=REMEMBERED)

    @property
    def limit(self) -> str:
        """What keeps requests from being faster; empty where nothing here does."""
        if self.rate is None or (self.rate == self._most and self._slowed_at < time.monotonic() - RECENT):
            return f"--rate {self._most:g}" if self._most else ""
        return "the server, which refuses more requests a second"

    async def turn(self) -> None:
        """Waits for the caller's turn."""
        now = time.monotonic()
        if self.rate is not None:
            begin = max(self._free_at, now)
            self._free_at = begin + 1 / self.rate
            await asyncio.sleep(begin - now)
        self._begun.append(time.monotonic())

    def slow_down(self) -> None:
        """The server refused: many refusals within a second are one."""
        now = time.monotonic()
        if now - self._slowed_at >= 1:
            self._slowed_at = now
            self.rate = max(SLOWEST, SLOWER * (self.rate or self._reached()))

    def speed_up(self) -> None:
        """The server answered."""
        if self.rate is not None:
            self.rate = min(self.rate + FASTER, self._most or float("inf"))

    def _reached(self) -> float:
        """Requests a second, of the last ones."""
        span = self._begun[-1] - self._begun[0] if self._begun else 0.0
        return len(self._begun) / max(span, 1.0)
