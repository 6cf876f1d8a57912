"""Whether a run kept the schedule from starting another at a time: the one rule of the watchdog and of what accounts for runs. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

SLACK = timedelta(seconds=1)
"""The server starts a run, and hears of its end, so much later at most."""


def held_back(first: datetime, last: datetime, started_at: datetime, closed_at: datetime | None) -> bool:
    """Whether the schedule saw a run at work when a time came: at an instant from `first` to `last`, between which jitter has put it."""
    return started_at <= first + SLACK and (closed_at is None or closed_at > last - SLACK)
