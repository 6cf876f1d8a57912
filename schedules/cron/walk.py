"""One calendar in local time: the next matching second by jumping from field to field on bit sets."""

from __future__ import annotations

import bisect
import calendar
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from schedules.cron.epoch import DAY, day_number
from schedules.cron.masks import mask_of_ranges, members, span
from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR

if TYPE_CHECKING:
    from schedules.cron.offsets import ZoneOffsets
    from schedules.recurrence import Calendar

FIRST_DAYS = tuple(
    day_number(date(year, month, 1)) for year in range(FIRST_YEAR, LAST_YEAR + 1) for month in range(1, 13)
)
MONTHS = len(FIRST_DAYS)
LENGTHS = tuple(calendar.monthrange(FIRST_YEAR + index // 12, index % 12 + 1)[1] for index in range(MONTHS))
LENGTH_MASKS = tuple(span(1, length) for length in LENGTHS)
FIRST_WEEKDAYS = tuple((day + 4) % 7 for day in FIRST_DAYS)  # 0 = Sunday; 1970-01-01 was a Thursday
WEEKDAY_PATTERNS = tuple(sum(1 << day for day in range(1, 32) if (first + day - 1) % 7 == 0) for first in range(7))
EVERY_12TH = sum(1 << index for index in range(0, MONTHS, 12))
NEAR = 2 * DAY  # more than any two offsets of one zone differ


def next_member(mask: int, number: int) -> int:
    """The smallest member that is at least `number`, or -1."""
    rest = mask >> number
    return number + (rest & -rest).bit_length() - 1 if rest else -1


class CalendarWalk:
    """A calendar made ready to be asked many times. Local times are seconds since 1970-01-01T00:00 on the wall clock."""

    def __init__(self, source: Calendar) -> None:
        self.seconds = mask_of_ranges(source.second)
        self.minutes = mask_of_ranges(source.minute)
        self.hours = mask_of_ranges(source.hour)
        self._first_second = next_member(self.seconds, 0)
        self._first_in_hour = next_member(self.minutes, 0) * 60 + self._first_second
        self._first_time = self.time_from(0)
        days, weekdays = mask_of_ranges(source.day_of_month), mask_of_ranges(source.day_of_week)
        self._days_by_first = days_by_first_weekday(days, weekdays)
        self._months = months_of(mask_of_ranges(source.month), mask_of_ranges(source.year))
        self._day_found = -1

    def matches(self, local: int) -> bool:
        """Whether a local time is one of the calendar's."""
        day, second = divmod(local, DAY)
        return self.next_day(day) == day and self.time_from(second) == second

    def whole_step(self) -> int:
        """The largest of 86400, 3600, 60 and 1 seconds such that a match fills the whole day, hour, minute or second."""
        full_minute, full_hour, full_day = (
            self.seconds == span(0, 59),
            self.minutes == span(0, 59),
            self.hours == span(0, 23),
        )
        if not full_minute:
            return 1
        if not full_hour:
            return 60
        return DAY if full_day else 3600

    def at_or_after(self, local: int) -> int | None:
        """The first matching local time that is not before the given one."""
        day, second = divmod(local, DAY)
        found = day if day == self._day_found else self.next_day(day)
        if found == day:
            time = self.time_from(second)
            if time >= 0:
                self._day_found = day
                return day * DAY + time
            found = self.next_day(day + 1)
        if found is None or self._first_time < 0:
            return None
        self._day_found = found  # most questions are about the day of the answer before
        return found * DAY + self._first_time

    def time_from(self, second: int) -> int:
        """The first matching second of a day from the given one on, or -1."""
        hour, rest = divmod(second, 3600)
        minute, second = divmod(rest, 60)
        if self.hours >> hour & 1:
            if self.minutes >> minute & 1 and (found := next_member(self.seconds, second)) >= 0:
                return hour * 3600 + minute * 60 + found
            if (found := next_member(self.minutes, minute + 1)) >= 0:
                return hour * 3600 + found * 60 + self._first_second
        found = next_member(self.hours, hour + 1)
        return found * 3600 + self._first_in_hour if found >= 0 else -1

    def next_day(self, day: int) -> int | None:
        """The first matching day (counted from 1970-01-01) from the given one on."""
        index = bisect.bisect_right(FIRST_DAYS, day) - 1
        number = day - FIRST_DAYS[index] + 1 if index >= 0 else 1
        index = max(index, 0)
        months = self._months >> index
        while months:
            if not months & 1:
                skipped = (months & -months).bit_length() - 1
                months >>= skipped
                index, number = index + skipped, 1
            found = next_member(self._days_by_first[FIRST_WEEKDAYS[index]] & LENGTH_MASKS[index], number)
            if found >= 0:
                return FIRST_DAYS[index] + found - 1
            months >>= 1
            index, number = index + 1, 1
        return None

    def instant_from(self, at: int, zone: ZoneOffsets, limit: int) -> int | None:
        """The first Unix time from `at` on, and before `limit`, whose local time matches; a repeated local time counts twice."""
        while at < limit:
            start_of_search, piece = at, zone.piece(at)
            local = self.at_or_after(at + piece.offset)
            if local is not None and local - piece.offset < piece.end:
                return local - piece.offset if local - piece.offset < limit else None
            at = piece.end
            if piece.end >= start_of_search + NEAR:  # no later instant has a local time before the search's start
                if local is None:
                    return None
                at = max(at, local - piece.offset - NEAR)
        return None


@lru_cache(maxsize=4096)
def days_by_first_weekday(days: int, weekdays: int) -> tuple[int, ...]:
    """For each weekday that a month can begin with, those of the days that fall on one of the weekdays."""
    return tuple(
        days & sum(WEEKDAY_PATTERNS[(first - weekday) % 7] for weekday in range(7) if weekdays >> weekday & 1)
        for first in range(7)
    )


@lru_cache(maxsize=1024)
def months_of(months: int, years: int) -> int:
    """The months of those years, no year standing for every one, as a mask of places in FIRST_DAYS."""
    chosen = sum(EVERY_12TH << (month - 1) for month in members(months))
    if not years:
        return chosen
    return chosen & sum(0b111111111111 << (12 * (year - FIRST_YEAR)) for year in members(years))
