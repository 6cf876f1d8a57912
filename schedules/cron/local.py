"""Local-time patterns compiled for one zone: calendars where clocks do not change, single instants where they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedules.cron.carve import OUTSIDE_YEARS, Carver, Part, contains, joined, weekday_of
from schedules.cron.days import ALL_WEEKDAYS
from schedules.cron.epoch import DAY, HOUR, date_of
from schedules.cron.masks import members
from schedules.cron.offsets import LAST_YEAR
from schedules.cron.transitions import nights_of, zone_nights

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from schedules.cron.compiled import Policy
    from schedules.cron.days import Rect
    from schedules.cron.pattern import Pattern
    from schedules.cron.transitions import Night, Nights

MOST_INSTANTS = 2000  # five fields take 1,500 in five years of Troll; every run carries them, 17 bytes each
FEW = 6  # times of a day that are shorter as instants than as calendars of a date
NO_NIGHTS = nights_of(())


def is_literal(pattern: Pattern, policy: Policy) -> bool:
    """Whether every real instant whose local time matches is meant, no more and no less."""
    return pattern.real_time or (policy.gap == "skip" and policy.repeat == "both")


@dataclass(frozen=True, slots=True)
class LocalPlan:
    """A pattern met by the changes of clocks of one zone in the years from `first` to `last`."""

    pattern: Pattern
    policy: Policy
    nights: Nights
    first: int
    last: int

    @property
    def literal(self) -> bool:
        """Whether the job follows real time."""
        return is_literal(self.pattern, self.policy)

    def risk(self) -> dict[int, int]:
        """Hours, by day, that calendars must not name: those of the pattern that a change of clocks meets.

        A day without hours is one that must be named by its date and not by its weekday; of few times it is all given.
        """
        if not (self.nights.any_hour & self.pattern.hours or self.nights.lost_midnights):
            return {}
        gaps_are_harmless = self.literal or self.policy.gap == "skip"
        risk = {
            day: met
            for day, hours in (self.nights.hours_in_doubt if gaps_are_harmless else self.nights.hours).items()
            if (met := hours & self.pattern.hours) and self.holds(date_of(day))
        }
        for day in self.nights.lost_midnights:
            if any(self.misread(rect, day) for rect in self.pattern.days):
                risk[day] = self.pattern.hours if self.times_in({day: self.pattern.hours}) <= FEW else risk.get(day, 0)
        return risk

    def misread(self, rect: Rect, day: int) -> bool:
        """Whether a server that takes the weekday from a missing midnight, thus of the day before, reads the rectangle wrongly."""
        if rect.weekdays == ALL_WEEKDAYS:
            return False
        today, yesterday = date_of(day), date_of(day - 1)
        dated = rect.months >> today.month & rect.days >> today.day & 1
        return bool(dated) and (rect.weekdays >> weekday_of(today) & 1) != (rect.weekdays >> weekday_of(yesterday) & 1)

    def holds(self, day: date) -> bool:
        """Whether the pattern has times on a date."""
        if self.pattern.years is not None and day.year not in self.pattern.years:
            return False
        return any(contains(rect, day) for rect in self.pattern.days)

    def parts(self, risk: dict[int, int]) -> Iterator[Part]:
        """The pattern without what is at risk."""
        if not risk:
            return iter([Part(rect, self.pattern.hours, self.pattern.years) for rect in self.pattern.days])
        by_weekday = not self.nights.lost_midnights
        carver = Carver(risk, self.pattern.hours, self.first, self.last, self.pattern.years, by_weekday)
        return joined(
            part
            for rect in self.pattern.days
            for part in carver.parts(
                rect, (day for day in risk if contains(rect, date_of(day)) or self.misread(rect, day))
            )
        )

    def times_in(self, risk: dict[int, int]) -> int:
        """How many local times of the pattern there are in those hours of those days."""
        hours = sum(hours.bit_count() for hours in risk.values())
        return hours * self.pattern.minutes.bit_count() * self.pattern.seconds.bit_count()

    def instants(self, risk: dict[int, int], skipped: frozenset[date]) -> tuple[set[int], tuple[date, ...]]:
        """The Unix times that the policy makes of the local times at risk, and the days that had too many of them.

        Such a day has none at all: what runs on it beside those at risk is not concerned.
        """
        found: set[int] = set()
        left_out: list[date] = []
        for day, hours in sorted(risk.items()):
            if self.holds(date_of(day)) and date_of(day) not in skipped:
                of_day = self._instants_of(day, hours, MOST_INSTANTS - len(found))
                if of_day is None:
                    left_out.append(date_of(day))
                else:
                    found |= of_day
        return found, tuple(left_out)

    def _instants_of(self, day: int, hours: int, most: int) -> set[int] | None:
        found: set[int] = set()
        for wall in self.walls(day, hours):
            found.update(self.resolve(wall))
            if len(found) > most:
                return None
        return found

    def walls(self, day: int, hours: int) -> Iterator[int]:
        """The pattern's times in those hours of a day, in wall-clock seconds since 1970-01-01T00:00."""
        minutes, seconds = members(self.pattern.minutes), members(self.pattern.seconds)
        for hour in members(hours):
            for minute in minutes:
                for second in seconds:
                    yield day * DAY + hour * HOUR + minute * 60 + second

    def resolve(self, wall: int) -> tuple[int, ...]:
        """The instants of one local time (seconds since 1970-01-01T00:00 on the wall clock)."""
        for night in self.nights.each:
            if wall < night.low:
                return (wall - night.before,)
            if wall < night.high:
                return self._in_gap(night, wall) if night.gap else self._repeated(night, wall)
        return (wall - self.nights.each[-1].after,)

    def _in_gap(self, night: Night, wall: int) -> tuple[int, ...]:
        if self.literal or self.policy.gap == "skip":
            return ()
        return (night.at,) if self.policy.gap == "run_after" else (wall - night.before,)

    def _repeated(self, night: Night, wall: int) -> tuple[int, ...]:
        first, second = wall - night.before, wall - night.after
        if self.literal or self.policy.repeat == "both":
            return (first, second)
        return (first,) if self.policy.repeat == "first" else (second,)


def plan_for(
    pattern: Pattern, policy: Policy, timezone: str, first: int, last: int
) -> tuple[LocalPlan, dict[int, int]]:
    """The plan over the years from first to last, and what is at risk in them."""
    plan = LocalPlan(pattern, policy, zone_nights(timezone, first, last), first, last)
    return plan, plan.risk()


def meets_later(plan: LocalPlan, timezone: str) -> bool:
    """Whether changes of clocks in the years after the plan's meet the pattern."""
    years = (plan.last + 1, min(plan.last + OUTSIDE_YEARS, LAST_YEAR))
    return bool(LocalPlan(plan.pattern, plan.policy, zone_nights(timezone, *years), *years).risk())
