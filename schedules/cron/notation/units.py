"""The fields of cron expressions: their names, numbers and words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MONTH_NAMES = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
DAY_NAMES = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One field: the numbers it takes as written, and the words that stand for them.

    `shift` is added to a written number and `modulo`, where there is one, applied, to get the number that calendars use.
    With `monday_first`, `*` is 1-7, and Sunday is 0 where a range begins with it (Spring, `BitsCronField.parseRange`).
    """

    name: str
    low: int
    high: int
    words: Mapping[str, int] = field(default_factory=dict)
    shift: int = 0
    modulo: int = 0
    monday_first: bool = False

    @property
    def first(self) -> int:
        """The number that `*` begins with; its end is always `high`, Sunday written 7 included."""
        return 1 if self.monday_first else self.low

    def meaning(self, written: int) -> int:
        """The calendar's number for a written one: Sunday written 7, or 1 in Quartz, is 0."""
        moved = written + self.shift
        return moved % self.modulo if self.modulo else moved

    @property
    def size(self) -> int:
        """How many different values there are; wrapped ranges turn round after that many."""
        return self.modulo or self.high - self.low + 1

    @property
    def allowed(self) -> str:
        """The numbers and words, for messages."""
        text = f"{self.low}-{self.high}"
        if not self.words:
            return text
        names = sorted(self.words, key=self.words.__getitem__)
        return f"{text} or {names[0][:3].upper()}-{names[-1][:3].upper()}"


def _words(names: tuple[str, ...], first: int) -> dict[str, int]:
    return {name[:3]: number for number, name in enumerate(names, first)}


def prefixes(names: tuple[str, ...], first: int, shortest: int) -> dict[str, int]:
    """Every beginning of a name that has at least `shortest` letters; the earlier name wins, as on the server."""
    words: dict[str, int] = {}
    for number, name in enumerate(names, first):
        for length in range(shortest, len(name) + 1):
            words.setdefault(name[:length], number)
    return words


SECOND = Unit("second", 0, 59)
MINUTE = Unit("minute", 0, 59)
HOUR = Unit("hour", 0, 23)
DAY_OF_MONTH = Unit("day-of-month", 1, 31)
MONTH = Unit("month", 1, 12, _words(MONTH_NAMES, 1))
WEEKDAY = Unit("day-of-week", 0, 7, _words(DAY_NAMES, 0), modulo=7)
WEEKDAY_IN_SPRING = Unit("day-of-week", 0, 7, _words((*DAY_NAMES[1:], DAY_NAMES[0]), 1), modulo=7, monday_first=True)
WEEKDAY_TO_6 = Unit("day-of-week", 0, 6, _words(DAY_NAMES, 0), modulo=7)
WEEKDAY_FROM_1 = Unit("day-of-week", 1, 7, _words(DAY_NAMES, 1), shift=-1, modulo=7)
WEEKDAY_ON_SERVER = Unit("day-of-week", 0, 7, prefixes(DAY_NAMES, 0, 2), modulo=7)
WEEKDAY_IN_CELERY = Unit("day-of-week", 0, 6, prefixes(DAY_NAMES, 0, 3), modulo=7)
MONTH_ON_SERVER = Unit("month", 1, 12, prefixes(MONTH_NAMES, 1, 3))
YEAR = Unit("year", 1970, 2099)
DAY_FIELDS = (DAY_OF_MONTH.name, WEEKDAY.name)
YEAR_TO_2199 = Unit("year", 1970, 2199)
YEAR_ON_SERVER = Unit("year", 2000, 2100)
