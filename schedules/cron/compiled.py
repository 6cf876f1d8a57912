"""The result of compiling an expression, and the policies that it follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import date, datetime

    from schedules.cron.pattern import Pattern
    from schedules.recurrence import Calendar, Interval

Gap = Literal["run_after", "shift", "skip"]
Repeat = Literal["first", "second", "both"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What becomes of a local time that does not exist (`gap`) or happens twice (`repeat`).

    run_after: the first instant after the gap; shift: later by the gap's length; skip: it does not run.
    """

    gap: Gap = "run_after"
    repeat: Repeat = "first"


@dataclass(frozen=True, slots=True)
class Compiled:
    """One schedule entry in the server's normal form; entries of one timezone are put together by joining the tuples.

    `exclusions` are whole local days and hold for the entire job. From `exact_until` on, a change of clocks is taken
    literally (a local time that does not exist does not run, a repeated one runs twice) until the schedule is compiled
    again; None where no change of clocks meets the schedule. `end_at` is set where the times come to an end: a single
    instant is an interval of half a century and more, so a schedule whose entries all end must end with the last of them.
    `left_out` are local days on which clocks change and that would take more instants than a schedule should hold: nothing
    runs in the hours concerned of these days. `pattern` is what a part with days of its own was made of.
    """

    timezone: str
    calendars: tuple[Calendar, ...] = ()
    intervals: tuple[Interval, ...] = ()
    exclusions: tuple[Calendar, ...] = ()
    exact_until: datetime | None = None
    end_at: datetime | None = None
    left_out: tuple[date, ...] = ()
    pattern: Pattern | None = None
