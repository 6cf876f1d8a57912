"""The values of the time engine, in the server's own normal form: calendars, intervals, and the times of a schedule.

Apart from the other values of schedules, so that `next` loads nothing that it does not need.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """The numbers start, start+step, … up to end, both ends included."""

    start: int
    end: int
    step: int = 1


Ranges = tuple[Range, ...]

EVERY_SECOND: Ranges = (Range(0, 59),)
EVERY_MINUTE: Ranges = (Range(0, 59),)
EVERY_HOUR: Ranges = (Range(0, 23),)
EVERY_DAY: Ranges = (Range(1, 31),)
EVERY_MONTH: Ranges = (Range(1, 12),)
EVERY_WEEKDAY: Ranges = (Range(0, 6),)
ZERO: Ranges = (Range(0, 0),)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Local times at which every field matches. `day_of_week` counts from 0 = Sunday; an empty `year` is every year."""

    second: Ranges = ZERO
    minute: Ranges = ZERO
    hour: Ranges = ZERO
    day_of_month: Ranges = EVERY_DAY
    month: Ranges = EVERY_MONTH
    day_of_week: Ranges = EVERY_WEEKDAY
    year: Ranges = ()
    comment: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """Instants whose Unix time is offset + n * every, in seconds; no time zone has a say."""

    every: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """When a schedule fires: (calendars or intervals) and no exclusion, from start_at to end_at, both included.

    Calendars and exclusions are local times of `timezone`. `jitter` is in seconds and never changes the scheduled time.
    """

    timezone: str
    calendars: tuple[Calendar, ...] = ()
    intervals: tuple[Interval, ...] = ()
    exclusions: tuple[Calendar, ...] = ()
    start_at: datetime | None = None
    end_at: datetime | None = None
    jitter: int = 0
