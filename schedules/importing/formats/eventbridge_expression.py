"""EventBridge's expressions, `cron(…)`, `rate(…)` and `at(…)`: what they mean, and the schedule entry that means the same. Pure."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.importing import fields
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import GridRule, OldRule, OnceRule, WallRule
from schedules.text.duration import format_duration

RATES: Final = {"minute": 60, "hour": 3_600, "day": 86_400}
LAST_YEAR: Final = 2199


def parse_expression(text: Any, zone: str) -> tuple[OldRule, Any]:
    """The old meaning, and the entry of the spec. Raises ImportProblem."""
    if not isinstance(text, str):
        raise ImportProblem("it has no ScheduleExpression: events start it, not the clock")
    match = re.fullmatch(r"\s*(cron|rate|at)\((.*)\)\s*", text)
    if match is None:
        raise ImportProblem(f"`{text}` is none of cron(…), rate(…) and at(…)")
    kind, inside = match[1], match[2].strip()
    if kind == "at":
        try:
            at = datetime.fromisoformat(inside).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
        except ValueError:
            raise ImportProblem(f"`{text}` is no time") from None
        return OnceRule(at), {"at": stamp(at)}
    if kind == "rate":
        rate = re.fullmatch(r"([1-9]\d*) (minute|hour|day)s?", inside)
        if rate is None:
            raise ImportProblem(f"`{text}` is no rate of minutes, hours or days")
        every = timedelta(seconds=int(rate[1]) * RATES[rate[2]])
        return GridRule(every), {"every": format_duration(every)}
    return _cron(inside, zone), {"cron": f"cron({inside})", "dialect": "eventbridge"}


def _cron(text: str, zone: str) -> WallRule:
    parts = text.split()
    if len(parts) != 6:  # noqa: PLR2004  the number of fields
        raise ImportProblem(f"cron({text}) has {len(parts)} fields instead of six")
    minute, hour, day, month, weekday, year = parts
    if (day == "?") == (weekday == "?"):
        both = "two ? in the day fields" if day == "?" else "no ? in the day fields"
        raise ImportProblem(f"cron({text}): {both}: exactly one of them has to be ?")
    months = fields.numbers(month, 1, 12, fields.AWS, fields.MONTHS)
    years = None if year == "*" else fields.numbers(year, 1970, LAST_YEAR, fields.AWS)
    on_day = _month_day(day) if weekday == "?" else _week_day(weekday)

    def fires(at: date) -> bool:
        return at.month in months and (years is None or at.year in years) and on_day(at)

    return WallRule(fields.clock_of(minute, hour, fields.AWS), fires, zone, "once")


def _month_day(text: str) -> fields.DayTest:
    if match := re.fullmatch(r"L(?:-(\d+))?", text):
        back = int(match[1] or 0)
        return lambda at: at.day == _length(at) - back
    if text == "LW":
        return lambda at: at.day == _nearest_weekday(at, _length(at))
    if match := re.fullmatch(r"(\d+)W", text):
        number = int(match[1])
        return lambda at: at.day == _nearest_weekday(at, number)
    days = fields.numbers(text, 1, 31, fields.AWS)
    return lambda at: at.day in days


def _week_day(text: str) -> fields.DayTest:
    if match := re.fullmatch(r"(\w+)#([1-5])", text):
        wanted = fields.weekday_set(match[1], fields.AWS)
        nth = int(match[2])
        return lambda at: at.isoweekday() in wanted and (at.day - 1) // 7 + 1 == nth
    if text == "L":
        return lambda at: at.isoweekday() == 6  # noqa: PLR2004  Saturday, the last day of Amazon's week
    if match := re.fullmatch(r"(\w+)L", text):
        wanted = fields.weekday_set(match[1], fields.AWS)
        return lambda at: at.isoweekday() in wanted and at.day > _length(at) - 7
    wanted = fields.weekday_set(text, fields.AWS)
    return lambda at: at.isoweekday() in wanted


def _length(at: date) -> int:
    return calendar.monthrange(at.year, at.month)[1]


def _nearest_weekday(at: date, number: int) -> int:
    """The day of the month from Monday to Friday that is nearest to a day of it, within the month; 0 where there is no such day."""
    if number > _length(at):
        return 0
    week = at.replace(day=number).isoweekday()
    if week == 6:  # noqa: PLR2004  Saturday: the Friday before, or the Monday after the 1st
        return number - 1 if number > 1 else 3
    if week == 7:  # noqa: PLR2004  Sunday: the Monday after, or the Friday before the last
        return number + 1 if number < _length(at) else number - 2
    return number
