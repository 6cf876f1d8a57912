"""Cron fields read a second time, in as few lines as they need: what proves an import must not come from our own parser. Pure."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Final

from schedules.importing.problem import ImportProblem
from schedules.importing.rules import ClockChanges, GridRule, OldRule, WallRule

MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
SUNDAY_0: Final = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
SUNDAY_1: Final = {name: number + 1 for name, number in SUNDAY_0.items()}
MONDAY_0: Final = {name: number for number, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_ITEM = re.compile(r"(?P<low>\*|\w+)(?:-(?P<high>\w+))?(?:/(?P<step>\d+))?")
_GO_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
DayTest = Callable[[date], bool]
Starred = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a dialect's fields may hold. `weekdays` maps names to numbers; the number of Sunday there decides how days count."""

    weekdays: dict[str, int]
    changes: ClockChanges
    start_step: bool = False  #: `5/15` counts on from 5 to the end of the range
    wraps: bool = False  #: `22-2` runs over the end
    seven: bool = False  #: 7 is Sunday, too


VIXIE: Final = Grammar(SUNDAY_0, "vixie", seven=True)
ROBFIG: Final = Grammar(SUNDAY_0, "literal", start_step=True)
CELERY: Final = Grammar(SUNDAY_0, "literal", wraps=True)
AIRFLOW: Final = Grammar(SUNDAY_0, "literal", seven=True)
AWS: Final = Grammar(SUNDAY_1, "once", start_step=True)
APSCHEDULER: Final = Grammar(MONDAY_0, "shift")


def numbers(field: str, low: int, high: int, grammar: Grammar, names: dict[str, int] | None = None) -> frozenset[int]:
    """The values from `low` to `high` that a field names. Raises ImportProblem with the field's text."""
    found: set[int] = set()
    for item in field.split(","):
        match = _ITEM.fullmatch("*" + item[1:] if item[:1] == "?" else item)
        if match is None:
            raise ImportProblem(f"`{field}` is not a cron field that can be read")
        step = int(match["step"] or 1)
        if match["low"] == "*":
            first, last = low, high
        else:
            first = _number(match["low"], names)
            open_end = match["step"] and grammar.start_step
            last = _number(match["high"], names) if match["high"] else high if open_end else first
        if step < 1 or not (low <= first <= high and low <= last <= high) or (first > last and not grammar.wraps):
            raise ImportProblem(f"`{field}` is not within {low} to {high}")
        span = range(first, last + 1) if first <= last else range(first, last + high - low + 2)
        found |= {(value - low) % (high - low + 1) + low for value in span[::step]}
    return frozenset(found)


def _number(text: str, names: dict[str, int] | None) -> int:
    if text.isdecimal() and text.isascii():
        return int(text)
    for name, number in (names or {}).items():
        if text.lower() == name:
            return number
    raise ImportProblem(f"`{text}` is neither a number nor a name that belongs here")


def weekday_set(field: str, grammar: Grammar) -> frozenset[int]:
    """The weekdays of a field as `date.isoweekday` numbers, Monday = 1 to Sunday = 7."""
    base = min(grammar.weekdays.values())
    found = numbers(field, base, base + (7 if grammar.seven else 6), grammar, grammar.weekdays)
    monday = grammar.weekdays["mon"]
    return frozenset((value - monday) % 7 + 1 for value in found)


def clock_of(minute: str, hour: str, grammar: Grammar) -> tuple[time, ...]:
    """Every time of day that the two fields name, sorted."""
    hours, minutes = numbers(hour, 0, 23, grammar), numbers(minute, 0, 59, grammar)
    return tuple(sorted(time(h, m) for h in hours for m in minutes))


def five_fields(text: str, zone: str, grammar: Grammar, starred: Starred | None) -> OldRule:
    """A rule for `minute hour day month weekday`.

    `starred` says of a day field, and the other one beside it, whether it counts as a star; where it does for neither, one of the
    two suffices. None: both must always match (Celery).
    """
    parts = text.split()
    if len(parts) != 5:  # noqa: PLR2004  the number of fields
        raise ImportProblem(f"`{text}` has {len(parts)} fields instead of five")
    minute, hour, day, month, weekday = parts
    days, months = numbers(day, 1, 31, grammar), numbers(month, 1, 12, grammar, MONTHS)
    weekdays = weekday_set(weekday, grammar)
    any_of = starred is not None and not starred(day, weekday) and not starred(weekday, day)

    def on_day(at: date) -> bool:
        by_month, by_week = at.day in days, at.isoweekday() in weekdays
        return at.month in months and (by_month or by_week if any_of else by_month and by_week)

    real_time = minute.startswith("*") or hour.startswith("*")
    return WallRule(clock_of(minute, hour, grammar), on_day, zone, grammar.changes, real_time)


def vixie(text: str, zone: str) -> OldRule:
    """Vixie cron (Debian's cron, cronie): a day field that starts with `*` makes both needed."""
    return five_fields(MACROS.get(text, text), zone, VIXIE, lambda field, _other: field.startswith("*"))


def robfig(text: str, zone: str) -> OldRule:
    """Kubernetes (robfig/cron v3): only a day field that is a star or `?` with no step above 1 makes both needed."""
    if text.startswith("@every "):
        return GridRule(go_duration(text.removeprefix("@every ")))
    return five_fields(MACROS.get(text, text), zone, ROBFIG, _has_star)


def _has_star(field: str, _other: str) -> bool:
    return any(item.removesuffix("/1") in {"*", "?"} for item in field.split(","))


def go_duration(text: str) -> timedelta:
    """Hours, minutes and whole seconds as Go writes them."""
    match = _GO_DURATION.fullmatch(text)
    if match is None or not any(match.groups()):
        raise ImportProblem(f"`{text}` is not a duration of whole seconds")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def celery(minute: str, hour: str, day: str, month: str, weekday: str, zone: str) -> OldRule:
    """Celery's `crontab`: both day fields must match."""
    return five_fields(f"{minute} {hour} {day} {month} {weekday}", zone, CELERY, None)


def airflow(text: str, zone: str) -> OldRule:
    """Airflow reads cron by croniter: a day field counts as a star if it is one, or names every day beside a field with a `*` in it."""
    return five_fields(MACROS.get(text, text), zone, AIRFLOW, _starred_for_croniter)


def _starred_for_croniter(field: str, other: str) -> bool:
    if field in {"*", "?"}:
        return True
    if "*" not in other:
        return False
    try:
        return len(numbers(field, 1, 31, AIRFLOW)) == 31  # noqa: PLR2004  the days of a month
    except ImportProblem:  # it names a weekday, or 0
        return len(weekday_set(field, AIRFLOW)) == 7  # noqa: PLR2004  the days of a week
