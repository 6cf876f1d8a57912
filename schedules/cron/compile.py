"""From the text of a schedule to structured calendars and intervals, never to cron strings.

The server's own parser is not used: it reads both day fields together, takes `#` for a comment and six fields for a year.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from schedules.cron.compiled import Compiled, Policy
from schedules.cron.emit import calendars_of
from schedules.cron.errors import CronError
from schedules.cron.exclusions import NO_EXCLUSIONS, exclusions_of, sparing
from schedules.cron.grid import grid_intervals
from schedules.cron.local import is_literal, meets_later, plan_for
from schedules.cron.notation import distance
from schedules.cron.notation.parse import FieldCountError, parse
from schedules.cron.occurrences import next_after
from schedules.cron.offsets import BEGIN, FIRST_YEAR, LAST_YEAR, zone_offsets
from schedules.cron.once import compile_at
from schedules.cron.pattern import Every, Once, Reboot
from schedules.cron.readings import with_other_readings
from schedules.cron.reboot import LAST_DAY
from schedules.cron.transitions import zone_nights
from schedules.recurrence import Interval, Times

if TYPE_CHECKING:
    from datetime import date

    from schedules.cron.compiled import Gap, Repeat
    from schedules.cron.exclusions import Exclusions
    from schedules.cron.local import LocalPlan
    from schedules.cron.pattern import Parsed, Pattern


def compile_cron(
    expression: str,
    *,
    timezone: str,
    dialect: str = "cron",
    gap: Gap = "run_after",
    repeat: Repeat = "first",
    hash_key: str = "",
    horizon_start: datetime,
    horizon_end: datetime,
    excluded_days: frozenset[date] = frozenset(),
) -> Compiled:
    """An expression as calendars and intervals in the normal form of the server; CronError tells what is wrong with it.

    A prefix `CRON_TZ=` in the expression wins over `timezone` (IANA names). `hash_key` (project and job) settles `H` and `~`.
    Changes of clocks are worked out for the whole local years from `horizon_start` to `horizon_end` (aware), so that the
    result stays the same during a year. `excluded_days` are local dates on which the job does not run, those of the same
    whole years, so that a weekday that is always excluded can be told from single dates.
    """
    years = _years(timezone, horizon_start, horizon_end)
    exclusions = exclusions_of(excluded_days, *years)

    def compiled_as(name: str) -> Compiled:
        parsed = parse(expression, name, hash_key)
        return _compiled(parsed, timezone, Policy(gap, repeat), years, expression.strip(), exclusions)

    try:
        return compiled_as(dialect)
    except FieldCountError as miscounted:
        raise with_other_readings(miscounted, dialect, compiled_as, horizon_start) from None


def compile_every(
    every_s: int, offset_s: int = 0, *, timezone: str = "UTC", excluded_days: frozenset[date] = frozenset()
) -> Compiled:
    """Instants whose Unix time is offset_s + n * every_s, in whole seconds; CronError where these do not fit together.

    `excluded_days` are dates local in `timezone`, of whole years, so that a weekday that is always excluded can be told.
    """
    every = distance.every(every_s, offset_s)
    zone_offsets(timezone)
    years = [day.year for day in excluded_days] or [FIRST_YEAR]
    exclusions = exclusions_of(excluded_days, min(years), max(years))
    return _intervals(timezone, (Interval(every.seconds, every.offset),), exclusions)


@lru_cache(maxsize=1024)
def _years(timezone: str, start: datetime, end: datetime) -> tuple[int, int]:
    zone_offsets(timezone)
    zone = ZoneInfo(timezone)
    first, last = start.astimezone(zone).year, end.astimezone(zone).year
    if start.year == FIRST_YEAR:
        first = FIRST_YEAR  # though its first hours are those of the local year before
    if not FIRST_YEAR <= first <= last <= LAST_YEAR:
        raise CronError(
            f"a horizon from {first} to {last}", field="horizon", allowed=f"{FIRST_YEAR}-{LAST_YEAR}, forwards"
        )
    return first, last


def _compiled(
    parsed: Parsed, timezone: str, policy: Policy, years: tuple[int, int], text: str, exclusions: Exclusions
) -> Compiled:
    if isinstance(parsed, Every):
        return _intervals(timezone, (Interval(parsed.seconds, parsed.offset),), exclusions)
    if isinstance(parsed, Reboot):
        return Compiled(timezone, (LAST_DAY,))
    if isinstance(parsed, Once):
        return compile_at(parsed.at, timezone=timezone, repeat=policy.repeat, excluded_days=exclusions.dates)
    zone = parsed.timezone or timezone
    if is_literal(parsed, policy) and (intervals := grid_intervals(parsed, zone_nights(zone, *years).each)):
        return _intervals(zone, intervals, exclusions)
    if exclusions.weekdays:
        parsed = parsed.without(exclusions.weekdays)
    return _calendars(*plan_for(parsed, policy, zone, *years), zone, text, exclusions)


def compile_pattern(pattern: Pattern, text: str, *, timezone: str, policy: Policy, years: tuple[int, int]) -> Compiled:
    """A pattern as calendars and intervals; `text` comments the calendars, `years` are the first and last of the horizon."""
    zone = pattern.timezone or timezone
    return replace(_calendars(*plan_for(pattern, policy, zone, *years), zone, text, NO_EXCLUSIONS), pattern=pattern)


def _intervals(zone: str, intervals: tuple[Interval, ...], exclusions: Exclusions) -> Compiled:
    """Intervals without the excluded days, or nothing where no time is left: the server would look for one in vain."""
    excluding = exclusions.calendars()
    times = Times(zone, intervals=intervals, exclusions=excluding)
    if excluding and next_after(times, datetime.fromtimestamp(BEGIN, UTC)) is None:
        return Compiled(zone)
    return Compiled(zone, intervals=intervals, exclusions=excluding)


def _calendars(plan: LocalPlan, risk: dict[int, int], zone: str, text: str, exclusions: Exclusions) -> Compiled:
    """Calendars that leave out the excluded weekdays by themselves; an exclusion that takes all would busy the server for long."""
    calendars = tuple(calendars_of(plan.parts(risk), plan.pattern, text, plan.first))
    instants, left_out = plan.instants(risk, exclusions.dates)
    matters = bool(risk) or meets_later(plan, zone)
    until = _new_year(plan.last + 1, zone) if matters else None
    excluding = sparing(exclusions.dated_calendars(), instants, zone) if calendars else ()
    return Compiled(
        zone,
        calendars,
        tuple(Interval(at) for at in sorted(instants)),
        excluding,
        exact_until=until,
        end_at=_end_of(plan.pattern.years, zone),
        left_out=left_out,
    )


def _new_year(year: int, timezone: str) -> datetime:
    return datetime(year, 1, 1, tzinfo=ZoneInfo(timezone)).astimezone(UTC)


def _end_of(years: frozenset[int] | None, zone: str) -> datetime | None:
    if years is None or LAST_YEAR in years:
        return None
    return _new_year(max(years, default=FIRST_YEAR) + 1, zone) - timedelta(seconds=1)
