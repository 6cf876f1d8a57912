"""Jobs that run at the same minutes of every hour of every day: intervals, on which no clock change has a say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.cron.days import Rect
from schedules.cron.epoch import HOUR
from schedules.cron.masks import members
from schedules.cron.transitions import ALL_HOURS
from schedules.recurrence import Interval

if TYPE_CHECKING:
    from schedules.cron.pattern import Pattern
    from schedules.cron.transitions import Night

MOST_INTERVALS = 60
DIVISORS = tuple(step for step in range(1, HOUR + 1) if HOUR % step == 0)


def grid_intervals(pattern: Pattern, nights: tuple[Night, ...]) -> tuple[Interval, ...]:
    """The intervals that equal the pattern read in real time, or none where there are no such (few) intervals.

    Where clocks never change a calendar says the same and reads better.

    Offsets that change by half an hour, as on Lord Howe, move `0 * * * *` against UTC but leave `*/30 * * * *` as it is.
    """
    if not nights or pattern.years is not None or pattern.hours != ALL_HOURS or pattern.days != (Rect(),):
        return ()
    offsets = {offset for night in nights for offset in (night.before, night.after)}
    marks = {60 * minute + second for minute in members(pattern.minutes) for second in members(pattern.seconds)}
    period = next(step for step in DIVISORS if {(mark + step) % HOUR for mark in marks} == marks)
    readings = {frozenset((mark - offset) % period for mark in marks) for offset in offsets}
    if len(readings) != 1:
        return ()
    phases = sorted(readings.pop())
    return tuple(Interval(period, phase) for phase in phases) if len(phases) <= MOST_INTERVALS else ()
