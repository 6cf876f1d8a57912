"""What cron text means, written out as slowly and plainly as can be: one question per number and per date.

Shares nothing with the product. Rules: crontab(5) and Vixie's entry.c (star rule), Quartz CronExpression, Spring CronExpression,
robfig/cron v3 parser.go, the EventBridge user guide, Celery schedules.py, Temporal's ScheduleSpec.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
SECONDS_FIRST = {"quartz", "spring"}
SUNDAY_IS_ONE = {"quartz", "eventbridge"}


def words_to_numbers(text: str, names: list[str], first: int) -> str:
    upper = text.upper()
    for number, name in enumerate(names, first):
        upper = upper.replace(name, str(number))
    return upper


def item_has(item: str, value: int, low: int, high: int) -> bool:
    """Whether one item of a list holds a value; a range whose end is smaller than its start turns round."""
    body, _, step_text = item.partition("/")
    step = int(step_text) if step_text else 1
    if body in ("*", "?", ""):
        first, last = low, high
    elif "-" in body:
        first, last = (int(part) for part in body.split("-"))
    else:
        first = int(body)
        last = high if step_text else first
    place = first
    size = high - low + 1
    if last < first:
        last += size
    while place <= last:
        if low + (place - low) % size == value:
            return True
        place += step
    return False


def has(field: str, value: int, low: int, high: int) -> bool:
    return any(item_has(item, value, low, high) for item in field.split(","))


def nearest_weekday(year: int, month: int, wanted: int) -> int:
    length = calendar.monthrange(year, month)[1]
    workdays = [day for day in range(1, length + 1) if calendar.weekday(year, month, day) < 5]
    return min(workdays, key=lambda day: abs(day - wanted))


def day_item_has(item: str, day: date) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    if item[0] == "L":
        workday = item.endswith("W")
        body = item.removesuffix("W")
        wanted = length - int(body[2:] or "0")
        if wanted < 1:
            return False
        return day.day == (nearest_weekday(day.year, day.month, wanted) if workday else wanted)
    if item.endswith("W"):
        wanted = int(item[:-1])
        return wanted <= length and day.day == nearest_weekday(day.year, day.month, wanted)
    return item_has(item, day.day, 1, 31)


def weekday_bounds(body: str, dialect: str) -> tuple[int, int]:
    """Spring counts from Monday, 1, to Sunday, 7, which at the start of a range is 0; all others count from Sunday, 0."""
    if body[0] in "*?":
        return (1, 7) if dialect == "spring" else (0, 6)
    first, _, last = body.partition("-")
    if dialect == "spring" and last and first == "7":
        first = "0"
    return int(first), int(last or first)


def weekday_item_has(item: str, day: date, dialect: str) -> bool:
    sunday_is_one = dialect in SUNDAY_IS_ONE
    today = day.isoweekday() % 7
    length = calendar.monthrange(day.year, day.month)[1]
    shift = 1 if sunday_is_one else 0
    if "#" in item:
        wanted, nth = item.split("#")
        return (int(wanted) - shift) % 7 == today and (day.day - 1) // 7 + 1 == int(nth)
    if item == "L":
        return today == 6
    if item.endswith("L"):
        return (int(item[:-1]) - shift) % 7 == today and day.day + 7 > length
    if sunday_is_one:
        return item_has(item, today + 1, 1, 7)
    body, _, step = item.partition("/")
    start, end = weekday_bounds(body, dialect)
    if step and "-" not in body and body[0] not in "*?":
        end = 6 if dialect == "kubernetes" else 7
    if end < start:
        end += 7
    return any(number % 7 == today for number in range(start, end + 1, int(step or 1)))


@dataclass(frozen=True)
class Text:
    """One expression of a dialect, taken apart."""

    second: str
    minute: str
    hour: str
    day: str
    month: str
    weekday: str
    year: str
    dialect: str

    @property
    def follows_real_time(self) -> bool:
        return self.minute[0] in "*?/" or self.hour[0] in "*?/"

    def seconds(self) -> list[int]:
        return [value for value in range(60) if has(self.second, value, 0, 59)]

    def on_clock(self, hour: int, minute: int) -> bool:
        return has(self.hour, hour, 0, 23) and has(self.minute, minute, 0, 59)

    def on_date(self, day: date) -> bool:
        if not has(self.month, day.month, 1, 12) or not (self.year == "*" or has(self.year, day.year, 1970, 2199)):
            return False
        month_side = any(day_item_has(item, day) for item in self.day.split(","))
        week_side = any(weekday_item_has(item, day, self.dialect) for item in self.weekday.split(","))
        if self.both_sides_needed():
            return month_side and week_side
        return month_side or week_side

    def both_sides_needed(self) -> bool:
        if self.dialect == "cron":
            return self.day[0] in "*?" or self.weekday[0] in "*?"
        if self.dialect == "kubernetes":
            whole = {"*", "?", "*/1", "?/1"}
            return any(item in whole for field in (self.day, self.weekday) for item in field.split(","))
        return True


def day_words(dialect: str) -> tuple[list[str], int]:
    if dialect == "spring":
        return [*DAYS[1:], "SUN"], 1
    return DAYS, 1 if dialect in SUNDAY_IS_ONE else 0


@lru_cache(maxsize=4096)
def read(expression: str, dialect: str) -> Text:
    fields = expression.removeprefix("cron(").removesuffix(")").split()
    second, year = "0", "*"
    if dialect in SECONDS_FIRST or (dialect == "temporal" and len(fields) == 7):
        second, *fields = fields
    if len(fields) == 6:
        *fields, year = fields
    minute, hour, day, month, weekday = fields
    return Text(
        second,
        minute,
        hour,
        day.upper(),
        words_to_numbers(month, MONTHS, 1),
        words_to_numbers(weekday, *day_words(dialect)),
        year,
        dialect,
    )
