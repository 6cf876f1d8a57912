"""APScheduler's cron fields: what they mean, and the cron text that means the same. Pure."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from datetime import date, time
from typing import Any, Final

from schedules.importing import fields
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import OldRule, WallRule

FIELDS: Final = ("year", "month", "day", "week", "day_of_week", "hour", "minute", "second")
MINIMUM: Final = {
    "year": "*",
    "month": "1",
    "day": "1",
    "week": "*",
    "day_of_week": "*",
    "hour": "0",
    "minute": "0",
    "second": "0",
}
DEFAULT: Final = {**dict.fromkeys(FIELDS, "*"), "second": "0", "minute": "0", "hour": "0"}
LIMITS: Final = {
    "year": (1970, 9999),
    "month": (1, 12),
    "day": (1, 31),
    "day_of_week": (0, 6),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}
_STEPPED: Final = re.compile(r"(?P<first>\*|\d+)(?:-(?P<last>\d+))?/(?P<step>\d+)")
_NTH: Final = re.compile(r"(1st|2nd|3rd|4th|5th|last) (mon|tue|wed|thu|fri|sat|sun)")
_CRON_NAMES: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def from_crontab(text: str) -> dict[str, str]:
    """The fields of five-field text, whose weekdays count from Monday = 0 here, too. Raises ImportProblem."""
    parts = text.split()
    if len(parts) != 5:  # noqa: PLR2004  the number of fields
        raise ImportProblem(f"from_crontab({text!r}) has {len(parts)} fields instead of five")
    return {
        **dict.fromkeys(FIELDS, "*"),
        **dict(zip(("minute", "hour", "day", "month", "day_of_week"), parts, strict=True)),
        "second": "0",
    }


def completed(given: Mapping[str, Any]) -> dict[str, str]:
    """All fields: those above the given ones are `*`, those below the most precise one given their minimum."""
    stated = {key: str(value) for key, value in given.items() if key in FIELDS and isinstance(value, str | int)}
    if not stated:
        return dict(DEFAULT)
    finest = max(FIELDS.index(key) for key in stated)
    return {key: stated.get(key, "*" if FIELDS.index(key) < finest else MINIMUM[key]) for key in FIELDS}


def cron_rule(given: Mapping[str, str], zone: str) -> tuple[OldRule, Any]:
    """Rule and entry of a cron trigger whose fields are all given."""
    return rule_of(given, zone), _entry(given)


def rule_of(given: Mapping[str, str], zone: str) -> OldRule:
    """When a cron trigger fires whose fields are all given. Raises ImportProblem."""
    given = _with_ends(given)
    if given["week"] != "*":
        raise ImportProblem(f"week={given['week']}: weeks of the year are on no calendar here")
    grammar = fields.APSCHEDULER
    seconds = fields.numbers(given["second"], 0, 59, grammar)
    minutes, hours = fields.numbers(given["minute"], 0, 59, grammar), fields.numbers(given["hour"], 0, 23, grammar)
    clock = tuple(sorted(time(h, m, s) for h in hours for m in minutes for s in seconds))
    months = fields.numbers(given["month"], 1, 12, grammar, fields.MONTHS)
    years = None if given["year"] == "*" else fields.numbers(given["year"], 1970, 9999, grammar)
    weekdays, on_day = fields.weekday_set(given["day_of_week"], grammar), _on_day(given["day"])

    def fires(at: date) -> bool:
        in_year = years is None or at.year in years
        return in_year and at.month in months and at.isoweekday() in weekdays and on_day(at)

    return WallRule(clock, fires, zone, grammar.changes)


def _with_ends(given: Mapping[str, str]) -> dict[str, str]:
    """The fields with the end of each range written out: `5/15` of the minute is `5-59/15`. Raises ImportProblem for a step that APScheduler refuses."""
    return {key: ",".join(_with_end(key, item) for item in text.split(",")) for key, text in given.items()}


def _with_end(key: str, item: str) -> str:
    match = _STEPPED.fullmatch(item)
    if match is None or key not in LIMITS:
        return item
    low, high = LIMITS[key]
    first, last = low if match["first"] == "*" else int(match["first"]), int(match["last"] or high)
    if int(match["step"]) > last - first:
        raise ImportProblem(f"{key}={item}: APScheduler refuses it, since the step is longer than the range")
    return item if match["first"] == "*" or match["last"] else f"{first}-{high}/{match['step']}"


def _on_day(text: str) -> fields.DayTest:
    """Which days of the month a `day` field means."""
    if text == "last":
        return lambda at: at.day == calendar.monthrange(at.year, at.month)[1]
    if match := _NTH.fullmatch(text):
        wanted = _CRON_NAMES.index(match[2]) or 7
        if match[1] == "last":
            return lambda at: at.isoweekday() == wanted and at.day > calendar.monthrange(at.year, at.month)[1] - 7
        nth = int(match[1][0])
        return lambda at: at.isoweekday() == wanted and (at.day - 1) // 7 + 1 == nth
    days = fields.numbers(text, 1, 31, fields.APSCHEDULER)
    return lambda at: at.day in days


def _entry(given: Mapping[str, str]) -> Any:
    """The schedule entry that means the same. Raises ImportProblem where no cron text does."""
    given = _with_ends(given)
    weekdays = fields.weekday_set(given["day_of_week"], fields.APSCHEDULER)
    week = "*" if len(weekdays) == 7 else ",".join(str(each % 7) for each in sorted(weekdays))  # noqa: PLR2004  days of a week
    day = "L" if given["day"] == "last" else given["day"]
    if match := _NTH.fullmatch(day):
        if week != "*":
            raise ImportProblem(f"day={day} beside day_of_week={given['day_of_week']}: no cron text says both")
        number = _CRON_NAMES.index(match[2])
        day, week = "*", f"{number}L" if match[1] == "last" else f"{number}#{match[1][0]}"
    if given["second"] == "0" and given["year"] == "*" and "*" in {day, week}:
        return f"{given['minute']} {given['hour']} {day} {given['month']} {week}"
    if not re.fullmatch(r"[\d*,/-]+", day) or not re.fullmatch(r"[\d*,/-]+", week):
        raise ImportProblem(f"day={given['day']} with seconds, years or weekdays: no cron text says both")
    cron = f"{given['second']} {given['minute']} {given['hour']} {day} {given['month']} {week} {given['year']}"
    return {"cron": cron, "dialect": "temporal"}
