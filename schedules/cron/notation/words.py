"""An expression in words, from its meaning and not from its text; none where they would be long or wrong."""

from __future__ import annotations

from calendar import monthrange
from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING

from schedules.cron.days import (
    ALL_DAYS,
    ALL_MONTHS,
    ALL_WEEKDAYS,
    Rect,
    before_last_day,
    last_weekday,
    nearest_weekday,
    nearest_weekday_before_last,
    nth_weekday,
)
from schedules.cron.masks import members, span
from schedules.cron.notation.units import DAY_NAMES, MONTH_NAMES
from schedules.cron.pattern import Every, Once, Pattern, Reboot
from schedules.cron.transitions import ALL_HOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from schedules.cron.pattern import Parsed

HOUR_MINUTES = 60
LEAP_YEAR = 2028
MOST_TIMES = 6
MOST_RULES = 3
ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def in_words(parsed: Parsed) -> str:
    """A phrase such as `at 08:00, from Monday to Friday`; empty for what has no short one."""
    if isinstance(parsed, Every):
        return _every(parsed)
    if isinstance(parsed, Reboot):
        return "once for each new build of the workers"
    if isinstance(parsed, Once):
        return f"once, at {parsed.at.isoformat()}"
    clock, days = _clock(parsed), _days(parsed.days)
    if not clock or days is None:
        return ""
    return ", ".join(part for part in (clock, days, _years(parsed)) if part)


def _every(parsed: Every) -> str:
    size, unit = next((size, unit) for size, unit in UNITS if parsed.seconds % size == 0)
    offset = f" + {parsed.offset} s" if parsed.offset else ""
    return f"{_each(parsed.seconds // size, unit)}, counted from 1970-01-01T00:00Z{offset}"


def _each(step: int, unit: str) -> str:
    return f"every {unit}" if step == 1 else f"every {step} {unit}s"


def _clock(pattern: Pattern) -> str:
    seconds, minutes, hours = (members(mask) for mask in (pattern.seconds, pattern.minutes, pattern.hours))
    if len(seconds) * len(minutes) * len(hours) <= MOST_TIMES:
        times = (
            f"{hour:02}:{minute:02}" + (f":{second:02}" if seconds != (0,) else "")
            for hour in hours
            for minute in minutes
            for second in seconds
        )
        return f"at {_listed(list(times))}"
    if len(seconds) > 1 or seconds[0]:
        return ""
    if pattern.hours == ALL_HOURS:
        return _within_hour(minutes)
    during = _during(hours)
    return f"{_within_hour(minutes)} {during}" if during else ""


def _within_hour(minutes: tuple[int, ...]) -> str:
    step = minutes[1] - minutes[0] if len(minutes) > 1 else HOUR_MINUTES
    if minutes[0] == 0 and minutes[-1] + step == HOUR_MINUTES and all(b - a == step for a, b in pairwise(minutes)):
        return "every hour" if step == HOUR_MINUTES else _each(step, "minute")
    if len(minutes) > MOST_TIMES:
        return ""
    return f"{_listed([str(minute) for minute in minutes])} minutes past every hour"


def _during(hours: tuple[int, ...]) -> str:
    if all(b - a == 1 for a, b in pairwise(hours)):
        return f"from {hours[0]:02}:00 to {hours[-1]:02}:59"
    if len(hours) <= MOST_TIMES:
        return f"of the hours {_listed([f'{hour:02}' for hour in hours])}"
    return ""


def _days(rects: tuple[Rect, ...]) -> str | None:
    """None where there is no phrase."""
    if rects == (Rect(),):
        return "every day"
    if (len(rects) > 1 or (rects and rects[0].weekdays.bit_count() == 1)) and (named := _named().get(_dates(rects))):
        return f"on {named}"
    if not rects or len(rects) > MOST_RULES or any(rect.years != "all" for rect in rects):
        return None
    phrases = [_day(rect) for rect in rects]
    return " or ".join(phrase for phrase in phrases if phrase) if all(phrases) else None


def _day(rect: Rect) -> str:
    parts = []
    if rect.days != ALL_DAYS:
        numbers = members(rect.days)
        if len(numbers) > MOST_TIMES and not _consecutive(numbers):
            return ""
        word = "day" if len(numbers) == 1 else "days"
        parts.append(f"on {word} {_numbers(numbers)} of the month")
    if rect.weekdays != ALL_WEEKDAYS:
        weekdays = _weekdays(members(rect.weekdays))
        parts.append(f"if it is {weekdays}" if parts else f"on {weekdays}")
    if rect.months != ALL_MONTHS:
        months = [MONTH_NAMES[number - 1].capitalize() for number in members(rect.months)]
        parts.append(f"in {_listed(months)}" if len(months) <= MOST_TIMES else "")
        if not parts[-1]:
            return ""
    return " ".join(parts)


def _weekdays(numbers: tuple[int, ...]) -> str:
    monday_first = sorted(numbers, key=lambda number: (number - 1) % 7)
    places = [(number - 1) % 7 for number in monday_first]
    names = [DAY_NAMES[number].capitalize() for number in monday_first]
    if len(names) > 2 and all(b - a == 1 for a, b in pairwise(places)):  # noqa: PLR2004  two read better as a list
        return f"Monday to {names[-1]}" if places[0] == 0 else f"{names[0]} to {names[-1]}"
    return _listed(names, "or")


def _numbers(numbers: tuple[int, ...]) -> str:
    if len(numbers) > 2 and _consecutive(numbers):  # noqa: PLR2004  two read better as a list
        return f"{numbers[0]} to {numbers[-1]}"
    return _listed([str(number) for number in numbers])


def _consecutive(numbers: tuple[int, ...]) -> bool:
    return all(b - a == 1 for a, b in pairwise(numbers))


def _years(pattern: Pattern) -> str:
    if pattern.years is None:
        return ""
    years = sorted(pattern.years)
    if not years:
        return "in no year that the server knows"
    return f"in {_numbers(tuple(years))}" if len(years) <= MOST_TIMES or _consecutive(tuple(years)) else "in some years"


def _listed(words: Sequence[str], joint: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


def _dates(rects: Iterable[Rect]) -> int:
    """The union as one number, whichever way it is cut: a bit for each day of each month, weekday and kind of year."""
    found = 0
    for rect in rects:
        for place, (month, weekday, leap) in enumerate(product(range(1, 13), range(7), (False, True))):
            if rect.months >> month & rect.weekdays >> weekday & 1 and rect.years in (
                "all",
                "leap" if leap else "common",
            ):
                last = monthrange(LEAP_YEAR if leap else LEAP_YEAR - 1, month)[1]
                found |= (rect.days & span(1, last)) << 32 * place
    return found


@cache
def _named() -> Mapping[int, str]:
    """The rules for days that have a name of their own, by their dates."""
    rules: list[tuple[tuple[Rect, ...], str]] = [(before_last_day(0), "the last day of the month")]
    rules += [(before_last_day(n), f"the day {n} days before the last of the month") for n in range(2, 28)]
    rules += [(before_last_day(1), "the last day but one of the month")]
    rules += [(nearest_weekday(n), f"the Monday to Friday nearest to day {n} of the month") for n in range(1, 32)]
    rules += [(nearest_weekday_before_last(0), "the last Monday to Friday of the month")]
    for weekday, name in enumerate(DAY_NAMES):
        rules += [(last_weekday(weekday), f"the last {name.capitalize()} of the month")]
        rules += [
            (nth_weekday(weekday, n), f"the {word} {name.capitalize()} of the month") for n, word in ORDINALS.items()
        ]
    return {_dates(rects): words for rects, words in rules}
