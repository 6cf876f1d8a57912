"""The meaning of an expression: sets of numbers and days, a fixed distance, or one time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedules.cron.days import ALL_WEEKDAYS, Rect, intersection

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Pattern:
    """Local times: masks of seconds, minutes and hours on the days of `days`; `years` None is every year.

    `real_time` says that the minute or the hour field was written with a leading `*`: such a job follows real time
    when clocks change (Vixie cron, `cron.c`), a policy decides for all others.
    """

    seconds: int
    minutes: int
    hours: int
    days: tuple[Rect, ...]
    years: frozenset[int] | None
    real_time: bool
    timezone: str | None = None

    def without(self, weekdays: int) -> Pattern:
        """The same without some weekdays (mask, 0 = Sunday)."""
        return replace(self, days=intersection(self.days, (Rect(weekdays=ALL_WEEKDAYS & ~weekdays),)))


@dataclass(frozen=True, slots=True)
class Every:
    """Instants at a fixed distance since the epoch, in seconds."""

    seconds: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Once:
    """One local time, or an instant where it has an offset."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Reboot:
    """No time at all: once for each new build of the workers."""


Parsed = Pattern | Every | Once | Reboot
