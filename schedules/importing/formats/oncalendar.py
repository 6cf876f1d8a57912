"""systemd's calendar expressions (systemd.time(7)): what they mean, and the cron text that means the same. Pure."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time
from typing import Final

from schedules.importing.problem import ImportProblem
from schedules.importing.rules import WallRule

WEEKDAYS: Final = {name.lower(): number for number, name in enumerate(calendar.day_name, start=1)} | {
    name.lower(): number for number, name in enumerate(calendar.day_abbr, start=1)
}
NAMES: Final = {
    "minutely": "*-*-* *:*:00",
    "hourly": "*-*-* *:00:00",
    "daily": "*-*-* 00:00:00",
    "monthly": "*-*-01 00:00:00",
    "weekly": "Mon *-*-* 00:00:00",
    "yearly": "*-01-01 00:00:00",
    "annually": "*-01-01 00:00:00",
    "quarterly": "*-01,04,07,10-01 00:00:00",
    "semiannually": "*-01,07-01 00:00:00",
}
_ITEM: Final = re.compile(r"(?P<low>\*|\d+)(?:\.\.(?P<high>\d+))?(?:/(?P<step>\d+))?")
_DATE: Final = re.compile(r"(?:(?P<year>[\d*.,/]+)-)?(?P<month>[\d*.,/]+)(?P<mark>[-~])(?P<day>[\d*.,/]+)")
_TIME: Final = re.compile(r"(?P<hour>[\d*.,/]+):(?P<minute>[\d*.,/]+)(?::(?P<second>[\d*.,/]+))?")
YEARS: Final = (1970, 2199)


@dataclass(frozen=True, slots=True)
class OnCalendar:
    """One expression. `days` count from the end of the month (1 is its last day) where `from_end`; None stands for every value."""

    weekdays: frozenset[int] | None
    years: frozenset[int] | None
    months: frozenset[int]
    days: frozenset[int]
    from_end: bool
    hours: frozenset[int]
    minutes: frozenset[int]
    seconds: frozenset[int]
    zone: str | None

    def rule(self, zone: str) -> WallRule:
        """Its times; `zone` is the machine's, for an expression that names none."""
        clock = tuple(sorted(time(h, m, s) for h in self.hours for m in self.minutes for s in self.seconds))
        return WallRule(clock, self._on_day, self.zone or zone, "once")

    def _on_day(self, day: date) -> bool:
        last = calendar.monthrange(day.year, day.month)[1]
        number = last - day.day + 1 if self.from_end else day.day
        return (
            (self.weekdays is None or day.isoweekday() in self.weekdays)
            and (self.years is None or day.year in self.years)
            and day.month in self.months
            and number in self.days
        )

    def entry(self) -> dict[str, str]:
        """A schedule entry that means the same, in the dialect whose two day fields must both match. Raises ImportProblem."""
        clock = [_text(self.seconds, 60), _text(self.minutes, 60), _text(self.hours, 24)]
        week = "*" if self.weekdays is None else _text(frozenset(day % 7 for day in self.weekdays), None)
        month = _text(self.months, 12)
        if self.from_end:
            return self._entry_from_end(clock, month, week)
        year = "*" if self.years is None else _text(self.years, None)
        day = _text(self.days, 31)
        if self.seconds == {0} and year == "*" and (day == "*" or week == "*"):
            return {"cron": " ".join((clock[1], clock[2], day, month, week))}
        return {"cron": " ".join((*clock, day, month, week, year)), "dialect": "temporal"}

    def _entry_from_end(self, clock: list[str], month: str, week: str) -> dict[str, str]:
        if self.seconds != {0} or self.years is not None or week != "*":
            raise ImportProblem("days counted from the end of the month, with weekdays, seconds or years beside them")
        days = ",".join("L" if day == 1 else f"L-{day - 1}" for day in sorted(self.days))
        return {"cron": " ".join((clock[1], clock[2], days, month, "*"))}


def parse_oncalendar(text: str) -> OnCalendar:
    """One expression after `OnCalendar=`. Raises ImportProblem."""
    words = (NAMES.get(text.strip().lower()) or text).split()
    zone = words.pop() if len(words) > 1 and _is_zone(words[-1]) else None
    if len(words) == 1 and words[0].lower() in NAMES:
        words = NAMES[words[0].lower()].split()
    weekdays, day_part, time_part = None, None, None
    for word in words:
        if weekdays is None and re.match(r"[A-Za-z]", word):
            weekdays = _weekdays(word)
        elif time_part is None and (match := _TIME.fullmatch(word)):
            time_part = match
        elif day_part is None and (match := _DATE.fullmatch(word)):
            day_part = match
        else:
            raise ImportProblem(f"`{word}` in `{text}` is no part of a calendar expression that can be read")
    if weekdays is None and day_part is None and time_part is None:
        raise ImportProblem(f"`{text}` is no calendar expression")
    from_end = bool(day_part and day_part["mark"] == "~")
    return OnCalendar(
        weekdays,
        _years(day_part["year"] if day_part else None),
        _values(day_part["month"] if day_part else "*", 1, 12),
        _days(day_part["day"] if day_part else "*", from_end=from_end),
        from_end,
        _values(time_part["hour"] if time_part else "0", 0, 23),
        _values(time_part["minute"] if time_part else "0", 0, 59),
        _values((time_part["second"] if time_part else None) or "0", 0, 59),
        zone,
    )


def _is_zone(word: str) -> bool:
    from zoneinfo import available_timezones

    return word in available_timezones() and not _TIME.fullmatch(word)


def _weekdays(text: str) -> frozenset[int]:
    found: set[int] = set()
    for item in text.rstrip(",").split(","):
        first, _, last = item.replace("-", "..").partition("..")
        try:
            low, high = WEEKDAYS[first.lower()], WEEKDAYS[(last or first).lower()]
        except KeyError:
            raise ImportProblem(f"`{item}` is no weekday") from None
        if low > high:
            raise ImportProblem(f"`{item}` is refused by systemd, since its weekdays run over the end of a week")
        found |= set(range(low, high + 1))
    return frozenset(found)


def _years(text: str | None) -> frozenset[int] | None:
    return None if text is None or text == "*" else _values(text, *YEARS)


def _days(text: str, *, from_end: bool) -> frozenset[int]:
    """Days of the month; counted from its end, a step goes on towards the end: `~09/4` is the last day but 8, but 4, and the last."""
    found: set[int] = set()
    for item in text.split(","):
        first, _, step = item.partition("/")
        if not from_end or not step:
            found |= _values(item, 1, 31)
        elif first.isdecimal() and step.isdecimal() and 0 < int(step) < int(first):
            found |= set(range(int(first), 0, -int(step)))
        else:
            raise ImportProblem(f"`{item}` behind ~ is refused by systemd, too")
    return frozenset(found)


def _values(text: str, low: int, high: int) -> frozenset[int]:
    found: set[int] = set()
    for item in text.split(","):
        match = _ITEM.fullmatch(item)
        if match is None:
            raise ImportProblem(f"`{text}` is no list of numbers, ranges (1..5) and steps (1/2)")
        step = int(match["step"] or 1)
        first = low if match["low"] == "*" else int(match["low"])
        open_end = match["low"] == "*" or match["step"]
        last = int(match["high"]) if match["high"] else high if open_end else first
        if step < 1 or not low <= first <= last <= high:
            raise ImportProblem(f"`{item}` is not within {low} to {high}")
        found |= set(range(first, last + 1, step))
    return frozenset(found)


def _text(values: frozenset[int], size: int | None) -> str:
    """Values as a cron field; `*` where they are all that there are."""
    if size is not None and len(values) == size:
        return "*"
    return ",".join(_runs(sorted(values)))


def _runs(values: list[int]) -> Iterator[str]:
    """Neighbours as ranges: 1, 2, 3, 5 is `1-3`, `5`."""
    start = previous = values[0]
    for value in [*values[1:], None]:
        if value is not None and value == previous + 1:
            previous = value
            continue
        yield str(start) if start == previous else f"{start}-{previous}"
        if value is not None:
            start = previous = value
