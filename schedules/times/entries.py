"""One entry of a schedule, with the job's clock policy and its rule of days, as calendars and intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from schedules.cron import Compiled, compile_at, compile_cron, compile_every
from schedules.cron.carve import OUTSIDE_YEARS
from schedules.cron.compile import compile_pattern
from schedules.cron.compiled import Policy
from schedules.cron.dated import compile_dates, nth_business_day
from schedules.cron.days import Rect
from schedules.cron.local import NO_NIGHTS, LocalPlan
from schedules.cron.notation.hashing import may_be_hashed
from schedules.cron.notation.literal import parse_literal
from schedules.cron.notation.parse import parse
from schedules.cron.offsets import LAST_YEAR
from schedules.cron.once import check_at
from schedules.cron.pattern import Once, Pattern
from schedules.spec.describe import entry_text
from schedules.spec.entries import AtEntry, BusinessDayEntry, CalendarEntry, CronEntry, EveryEntry
from schedules.times.day_rule import DayRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date, datetime, time

    from schedules.spec.calendars import OnHoliday
    from schedules.spec.entries import ScheduleEntry
    from schedules.spec.job import JobSpec

parse_cached = lru_cache(maxsize=20_000)(parse)
compile_cron_cached = lru_cache(maxsize=20_000)(compile_cron)


@dataclass(frozen=True, slots=True)
class EntryCompiler:
    """What the entries of one job share. `years` are the first and last of the horizon, the year before included."""

    job: JobSpec
    project: str
    rule: DayRule
    horizon: tuple[datetime, datetime]
    years: tuple[int, int]

    @property
    def policy(self) -> Policy:
        """What clock changes do."""
        return Policy(self.job.dst.gap, self.job.dst.repeat)

    def compile(self, entry: ScheduleEntry) -> Iterator[Compiled]:
        """The parts whose union the entry is. Raises CronError."""
        match entry:
            case EveryEntry():
                every, offset = (int(each.total_seconds()) for each in (entry.every, entry.offset))
                yield compile_every(every, offset, timezone=self.job.timezone, excluded_days=self.excluded)
            case AtEntry():
                yield from self._once(entry.at, entry)
            case BusinessDayEntry():
                yield from self._business_day(entry)
            case CalendarEntry():
                days_off = compile_every(1, timezone=self.job.timezone, excluded_days=self.excluded).exclusions
                yield Compiled(self.job.timezone, (parse_literal(entry.calendar),), exclusions=days_off)
            case CronEntry():
                yield from self._cron(entry)

    @property
    def excluded(self) -> frozenset[date]:
        """The days ruled out, up to the end of the horizon."""
        return self.rule.excluded_until(self.years[1])

    def _cron(self, entry: CronEntry) -> Iterator[Compiled]:
        hash_key = f"{self.project}/{self.job.name}" if may_be_hashed(entry.cron) else ""
        parsed = parse_cached(entry.cron, entry.dialect, hash_key)
        if isinstance(parsed, Once):
            yield from self._once(parsed.at, entry)
        elif isinstance(parsed, Pattern) and self.rule.ends:
            days = days_of(parsed, self.rule, self.job.on_holiday, self.years[1])
            yield from self._on_dates(parsed, days, entry_text(entry))
        elif isinstance(parsed, Pattern):
            moves = moves_of(parsed, self.rule, self.job.on_holiday, self.years[1])
            yield self._compiled_cron(entry, hash_key, met_days(parsed, self.rule, self.years[1]).union(moves))
            yield from self._on_dates(parsed, moved_days(parsed, moves), self._moved(entry))
        else:
            yield self._compiled_cron(entry, hash_key, self.excluded)

    def _compiled_cron(self, entry: CronEntry, hash_key: str, excluded_days: frozenset[date]) -> Compiled:
        return compile_cron_cached(
            entry.cron,
            timezone=self.job.timezone,
            dialect=entry.dialect,
            gap=self.job.dst.gap,
            repeat=self.job.dst.repeat,
            hash_key=hash_key,
            horizon_start=self.horizon[0],
            horizon_end=self.horizon[1],
            excluded_days=excluded_days,
        )

    def _once(self, at: datetime, entry: ScheduleEntry) -> Iterator[Compiled]:
        check_at(at)
        local = at if at.tzinfo is None else at.astimezone(ZoneInfo(self.job.timezone))
        target = self.rule.moved(local.date(), self.job.on_holiday) if local.date() in self.rule.excluded else None
        if target is None:
            yield compile_at(
                at, timezone=self.job.timezone, repeat=self.job.dst.repeat, excluded_days=self.rule.excluded
            )
        else:
            yield from self._on_dates(_at_clock(local.time()), [target], self._moved(entry))

    def _business_day(self, entry: BusinessDayEntry) -> Iterator[Compiled]:
        pattern, text, weekdays = _at_clock(entry.at), entry_text(entry), self.rule.business.weekdays
        by_rule = replace(pattern, days=nth_business_day(entry.business_day, weekdays))
        if self.rule.weekly:
            yield self._pattern(by_rule, text)
            return
        known = (day for day in self.rule.nth_of_months(entry.business_day) if day.year <= self.years[1])
        yield from self._on_dates(pattern, known, text)
        if weekdays:
            later = frozenset(range(self.years[1] + 1, min(self.years[1] + OUTSIDE_YEARS, LAST_YEAR) + 1))
            yield self._pattern(replace(by_rule, years=later), f"{text}: years without known holidays")

    def _pattern(self, pattern: Pattern, text: str) -> Compiled:
        return compile_pattern(pattern, text, timezone=self.job.timezone, policy=self.policy, years=self.years)

    def _on_dates(self, pattern: Pattern, dates: Iterable[date], text: str) -> Iterator[Compiled]:
        years = (self.years[0], min(self.years[1] + 1, LAST_YEAR))  # a run that is moved may start after the horizon
        for part in compile_dates(pattern, dates, text, timezone=self.job.timezone, policy=self.policy, years=years):
            yield replace(part, exact_until=None)

    def _moved(self, entry: ScheduleEntry) -> str:
        return f"{entry_text(entry)}: moved to the {self.job.on_holiday.replace('_', ' ')}"


@lru_cache(maxsize=20_000)
def met_days(pattern: Pattern, rule: DayRule, last: int) -> frozenset[date]:
    """The days up to the end of a year that have to be excluded: weekdays that always are, and others with a run."""
    return frozenset(day for day in rule.excluded_until(last) if not rule.goes_on_with(day) or falls_on(pattern, day))


@lru_cache(maxsize=1024)
def moves_of(pattern: Pattern, rule: DayRule, where: OnHoliday, last: int) -> Mapping[date, date]:
    """Where the pattern's runs on excluded days go: those from, or to, days up to the end of a year."""
    if where == "skip":
        return {}
    moved = ((day, rule.moved(day, where)) for day in rule.excluded if falls_on(pattern, day))
    return {day: to for day, to in moved if to is not None and min(day, to).year <= last}


def moved_days(pattern: Pattern, moves: Mapping[date, date]) -> frozenset[date]:
    """The days that runs are moved to, without those on which the pattern runs anyway."""
    return frozenset(day for day in moves.values() if not falls_on(pattern, day))


@lru_cache(maxsize=1024)
def days_of(pattern: Pattern, rule: DayRule, where: OnHoliday, last: int) -> frozenset[date]:
    """All days on which the pattern runs, moved ones included, where no more than single dates are allowed."""
    allowed = frozenset(day for day in rule.allowed.dates if day.year <= last and falls_on(pattern, day))
    return allowed | moved_days(pattern, moves_of(pattern, rule, where, last))


def falls_on(pattern: Pattern, day: date) -> bool:
    """Whether the pattern has times on a date."""
    return LocalPlan(pattern, Policy(), NO_NIGHTS, 0, 0).holds(day)


def pattern_at(at: datetime) -> Pattern:
    """One local time as a pattern."""
    days = (Rect(months=1 << at.month, days=1 << at.day),)
    return replace(_at_clock(at.time()), days=days, years=frozenset((at.year,)))


def _at_clock(at: time) -> Pattern:
    """A time of day on no day yet."""
    return Pattern(1 << at.second, 1 << at.minute, 1 << at.hour, days=(), years=None, real_time=False)
