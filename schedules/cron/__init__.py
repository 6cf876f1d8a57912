"""The time engine: cron text of many dialects compiled to calendars and intervals, and the times of the compiled form."""

from schedules.cron.compile import compile_cron, compile_every
from schedules.cron.compiled import Compiled, Gap, Repeat
from schedules.cron.effects import ClockEffect, clock_effects
from schedules.cron.errors import CronError
from schedules.cron.jitter import jittered
from schedules.cron.notation.dialects import DIALECTS
from schedules.cron.occurrences import Occurrences, between, count_between, next_after, previous_before
from schedules.cron.once import compile_at

__all__ = [
    "DIALECTS",
    "ClockEffect",
    "Compiled",
    "CronError",
    "Gap",
    "Occurrences",
    "Repeat",
    "between",
    "clock_effects",
    "compile_at",
    "compile_cron",
    "compile_every",
    "count_between",
    "jittered",
    "next_after",
    "previous_before",
]
