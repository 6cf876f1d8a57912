"""Seeded random jobs of every dialect, most of them near the hours at which clocks change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Literal

from tests.oracle.real_time import runs

if TYPE_CHECKING:
    from datetime import datetime
    from random import Random

ZONES = (
    "America/New_York",
    "Europe/London",
    "Europe/Dublin",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Africa/Casablanca",
    "America/Santiago",
    "Africa/Cairo",
    "Asia/Beirut",
    "Asia/Gaza",
    "America/Havana",
    "America/Asuncion",
    "Pacific/Chatham",
    "Pacific/Auckland",
    "Atlantic/Azores",
    "America/Nuuk",
    "Asia/Kolkata",
    "UTC",
)
Gap = Literal["run_after", "shift", "skip"]
Repeat = Literal["first", "second", "both"]
GAPS: tuple[Gap, ...] = ("run_after", "shift", "skip")
REPEATS: tuple[Repeat, ...] = ("first", "second", "both")
DAY_NAMES = ("SUN", "MON", "Tue", "wed", "THU", "FRI", "SAT")
MONTH_NAMES = ("JAN", "FEB", "Mar", "apr", "MAY", "JUN", "JUL", "AUG", "Sep", "OCT", "nov", "DEC")

NEW_YEAR = date(2027, 1, 1)
THREE_YEARS = [NEW_YEAR + timedelta(days=day) for day in range(3 * 365 + 1)]
WEEKENDS = frozenset(day for day in THREE_YEARS if day.isoweekday() > 5)
HOLIDAYS = frozenset(day for day in THREE_YEARS if day.day % 9 == 5 or (day.month in {3, 10} and day.day > 28))


@dataclass(frozen=True)
class Job:
    """An expression with all that decides when it runs."""

    expression: str
    dialect: str
    zone: str
    gap: Gap
    repeat: Repeat
    excluded: frozenset[date] = frozenset()

    def runs_between(self, start: datetime, end: datetime) -> list[datetime]:
        """What the oracle says, strictly between two instants."""
        return runs(
            self.expression,
            dialect=self.dialect,
            zone=self.zone,
            gap=self.gap,
            repeat=self.repeat,
            start=start,
            end=end,
            excluded=self.excluded,
        )


def random_job(random: Random) -> Job:
    dialect = random.choice(("cron",) * 8 + ("quartz", "spring", "kubernetes", "eventbridge", "celery", "temporal"))
    expression = Writer(random, dialect).expression()
    excluded = random.choice((*[frozenset[date]()] * 5, WEEKENDS, HOLIDAYS))
    return Job(expression, dialect, random.choice(ZONES), random.choice(GAPS), random.choice(REPEATS), excluded)


@dataclass(frozen=True)
class Writer:
    """Writes expressions that a dialect accepts."""

    random: Random
    dialect: str

    def expression(self) -> str:
        day, weekday = self.days()
        fields = [self.minute(), self.hour(), day, self.month(), weekday]
        if self.dialect in ("quartz", "spring"):
            fields.insert(0, self.random.choice(("0", "0", "30", "5,50", "*/20")))
        if self.dialect == "eventbridge" or (self.dialect in ("quartz", "temporal") and self.random.random() < 0.3):
            fields.append(self.random.choice(("*", "*", "2027-2028", "2028")))
        if self.dialect == "temporal" and len(fields) == 6 and self.random.random() < 0.5:
            fields.insert(0, self.random.choice(("0", "15,45")))
        text = " ".join(fields)
        return f"cron({text})" if self.dialect == "eventbridge" else text

    def minute(self) -> str:
        choice = self.random.choice
        number = str(self.random.randrange(60))
        star = {"kubernetes": ["?", "?/20"], "quartz": ["/20"]}.get(self.dialect, [])
        return choice(
            (*star, "0", "0", "30", "59", "45", number, "0,30", "*/15", "*/20", "*/7", "*", "10-50/20", "29,31", "5-9")
        )

    def hour(self) -> str:
        number = self.random.randrange
        near = str(self.random.choice((0, 1, 2, 3, 4, 22, 23)))
        choices = [
            near,
            near,
            near,
            near,
            "*",
            "*/2",
            "*/3",
            "0-5",
            f"{number(3)}-{3 + number(20)}",
            "1,2,3",
            "0-23",
            "2",
            "8",
            "9-17",
        ]
        if self.dialect in ("cron", "quartz", "celery"):
            choices.append("22-3")
        if self.dialect in ("quartz", "spring", "kubernetes", "eventbridge", "temporal"):
            choices.append("1/2")
        choices += {"kubernetes": ["?"], "quartz": ["/3"]}.get(self.dialect, [])
        return self.random.choice(choices)

    def month(self) -> str:
        random = self.random
        if random.random() < 0.7:
            return "*"
        names = MONTH_NAMES[random.randrange(12)], str(1 + random.randrange(12))
        return random.choice((*names, "3,4,10,11", "*/2", "2-4", "9-11", "MAR-NOV"))

    def days(self) -> tuple[str, str]:
        day, weekday = self.day(), self.weekday()
        if self.dialect in ("quartz", "eventbridge"):
            return ("?", weekday) if self.random.random() < 0.6 else (day, "?")
        return day, weekday

    def day(self) -> str:
        random = self.random
        picks = ["L", "L-2", "LW", "15W", "1W", "31W", "13"] if self._picks() else ["13"]
        number = 1 + random.randrange(31)
        return random.choice(("*",) * 8 + (str(number), "1-7", "*/2", "10-20/3", "25-31", "1,15", *picks))

    def weekday(self) -> str:
        random = self.random
        low = 1 if self.dialect in ("quartz", "eventbridge") else 0
        number = random.randrange(7)
        plain = [
            str(low + number),
            DAY_NAMES[number],
            "MON-FRI",
            f"{low}-{low + 2}",
            "SUN,SAT",
            "*/2",
            f"{low},{low + 6}",
        ]
        if self.dialect in ("cron", "spring", "temporal"):
            plain.append("5-7")
        if self.dialect in ("quartz", "spring", "kubernetes", "eventbridge", "temporal"):
            plain += [f"{low + number}/{1 + random.randrange(7)}", f"*/{1 + random.randrange(7)}"]
        if self.dialect == "spring":
            plain += ["MON-SUN", "FRI-SUN", "SUN-TUE", "7-4/2"]
        if self.dialect in ("cron", "celery"):
            plain.append("FRI-MON")
        if self._picks():
            plain += [f"{low + number}#{1 + random.randrange(5)}", f"{low + number}L", "SUNL"]
        return random.choice(["*"] * 8 + plain)

    def _picks(self) -> bool:
        return self.dialect in ("cron", "quartz", "spring", "eventbridge")
