"""One-off times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from schedules.cron.compiled import Compiled
from schedules.cron.epoch import day_number
from schedules.cron.errors import CronError
from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR, zone_offsets
from schedules.cron.transitions import zone_nights
from schedules.recurrence import Calendar, Interval, Range

if TYPE_CHECKING:
    from datetime import date

    from schedules.cron.compiled import Repeat


def compile_at(
    at: datetime, *, timezone: str, repeat: Repeat = "first", excluded_days: frozenset[date] = frozenset()
) -> Compiled:
    """One time, local in `timezone` or with an offset of its own, in whole seconds.

    CronError for a local time that does not exist, has a fraction of a second or lies outside 2001-2099. A local time that
    happens twice runs at its first pass, or as `repeat` says. On an excluded local date nothing runs.
    """
    check_at(at)
    zone_offsets(timezone)
    instants = [at.astimezone(UTC)] if at.tzinfo else _instants(at, ZoneInfo(timezone), timezone)
    if not at.tzinfo and repeat != "both":
        instants = instants[:1] if repeat == "first" else instants[-1:]
    walls = {instant.astimezone(ZoneInfo(timezone)).replace(tzinfo=None, fold=0) for instant in instants}
    if any(wall.date() in excluded_days for wall in walls):
        return Compiled(timezone, end_at=instants[-1])
    if any(_at_risk(wall, timezone) for wall in walls):
        intervals = tuple(Interval(int(instant.timestamp())) for instant in instants)
        return Compiled(timezone, intervals=intervals, end_at=instants[-1])
    return Compiled(timezone, tuple(_calendar(wall) for wall in walls), end_at=instants[-1])


def check_at(at: datetime) -> None:
    """Raises CronError for a time that no schedule can have."""
    if at.microsecond or not FIRST_YEAR < at.year < LAST_YEAR:
        problem = f"{at.isoformat()} is no time of a schedule"
        raise CronError(problem, field="at", value=at.isoformat(), allowed="whole seconds in 2001-2099")


def _instants(wall: datetime, zone: ZoneInfo, name: str) -> list[datetime]:
    readings = {wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
    real = sorted(each for each in readings if each.astimezone(zone).replace(tzinfo=None, fold=0) == wall)
    if not real:
        later = max(readings).astimezone(zone)
        raise CronError(
            f"{wall.isoformat()} does not exist in {name}: clocks go forward over it",
            field="at",
            value=wall.isoformat(),
            suggestion=f"did you mean {later.replace(tzinfo=None).isoformat()}?",
        )
    return real


def _at_risk(wall: datetime, timezone: str) -> bool:
    risk = zone_nights(timezone, wall.year - 1, wall.year + 1).hours
    return bool(risk.get(day_number(wall.date()), 0) >> wall.hour & 1)


def _calendar(wall: datetime) -> Calendar:
    second, minute, hour = ((Range(value, value),) for value in (wall.second, wall.minute, wall.hour))
    day, month, year = ((Range(value, value),) for value in (wall.day, wall.month, wall.year))
    return Calendar(second, minute, hour, day, month, year=year, comment=f"once at {wall.isoformat()}")
