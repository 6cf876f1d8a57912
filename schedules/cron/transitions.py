"""Local hours that a calendar must not name on the date of a clock change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING

from schedules.cron.epoch import DAY, HOUR
from schedules.cron.masks import span
from schedules.cron.offsets import zone_offsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schedules.cron.offsets import Transition

ALL_HOURS = span(0, 23)


@dataclass(frozen=True, slots=True)
class Night:
    """One change of clocks in wall-clock seconds: [low, high) does not exist (`gap`) or happens twice."""

    low: int
    high: int
    gap: bool
    at: int
    before: int
    after: int

    @property
    def aligned(self) -> bool:
        """Whether it begins and ends on full hours."""
        return self.low % HOUR == 0 and self.high % HOUR == 0

    def hours(self) -> Iterator[tuple[int, int]]:
        """Local (day, hour) pairs that the change touches; before a repeated hour, the hour that leads to it too.

        A server that looks for the next local time goes wrong from that hour on (temporal 1.32.0, `calendar.go`).
        """
        first = self.low // HOUR - (0 if self.gap else 1)
        return (divmod(hour, 24) for hour in range(first, -(-self.high // HOUR)))

    def missing_midnight(self) -> int | None:
        """The local day whose first second does not exist, or None."""
        day = -(-self.low // DAY)
        return day if self.gap and day * DAY < self.high else None


def _night(change: Transition) -> Night:
    """The wall-clock side of a transition."""
    walls = (change.at + change.before, change.at + change.after)
    return Night(min(walls), max(walls), change.after > change.before, change.at, change.before, change.after)


@dataclass(frozen=True, slots=True)
class Nights:
    """The changes of clocks of a zone in some years, and what they put at risk: masks of hours by local day."""

    each: tuple[Night, ...]
    hours: Mapping[int, int]  # all changes
    hours_in_doubt: Mapping[int, int]  # without gaps of full hours, in which nothing runs on any server
    lost_midnights: tuple[int, ...]  # days whose first second does not exist
    any_hour: int  # all hours at risk on any day


def nights_of(changes: Iterable[Transition]) -> Nights:
    """The wall-clock side of transitions."""
    nights = tuple(map(_night, changes))
    doubtful = (night for night in nights if not (night.gap and night.aligned))
    lost = tuple(day for night in nights if (day := night.missing_midnight()) is not None)
    at_risk = hours_at_risk(nights)
    return Nights(nights, at_risk, hours_at_risk(doubtful), lost, reduce(or_, at_risk.values(), 0))


@lru_cache(maxsize=1024)
def zone_nights(timezone: str, first_year: int, last_year: int) -> Nights:
    """The nights of a zone in the years from first to last; none where last comes before first."""
    return nights_of(zone_offsets(timezone).transitions(first_year, last_year))


def hours_at_risk(nights: Iterable[Night]) -> dict[int, int]:
    """Masks of hours by local day (counted from 1970-01-01)."""
    risk: dict[int, int] = {}
    for night in nights:
        for day, hour in night.hours():
            risk[day] = risk.get(day, 0) | 1 << hour
    return risk
