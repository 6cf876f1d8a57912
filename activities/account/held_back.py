"""Whether a run kept the schedule from starting another at a time: the one rule of late starts and of what accounts for runs. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class Execution(Protocol):
    """A run as the server describes it."""

    @property
    def start_time(self) -> datetime:
        """When the server started it."""

    @property
    def close_time(self) -> datetime | None:
        """When it ended; None while it goes on."""


Run = TypeVar("Run", bound=Execution)
SLACK = timedelta(seconds=1)
"""The server starts a run, and hears of its end, so much later at most."""


def held_back(first: datetime, last: datetime, started_at: datetime, closed_at: datetime | None) -> bool:
    """Whether the schedule saw a run at work when a time came: at an instant from `first` to `last`, between which jitter has put it."""
    return started_at <= first + SLACK and (closed_at is None or closed_at > last - SLACK)


def holder_among(runs: Iterable[Run], due: datetime) -> Run | None:
    """The run that a start had to wait for, of runs in the order of their starts.

    One that started a moment after it was due counts where it followed another at once: a schedule that works off its queue is
    at work between two runs, too.
    """
    held = [run for run in runs if held_back(due, due, run.start_time, run.close_time)]
    return held[-1] if held and held[0].start_time <= due else None


def let_go_in_time(runs: Iterable[Run], due: datetime, started_at: datetime, grace: timedelta) -> bool:
    """Whether a start that was due then waited for a run, and began within `grace` of its end: up to its own start it stood in the queue.

    `runs` are those before it, in the order of their starts. Longer than that, the server may have been away.
    """
    held = holder_among(runs, due)
    return held is not None and held.close_time is not None and started_at - held.close_time <= grace
