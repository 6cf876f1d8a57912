"""Starts of all jobs counted by second: crowded seconds and quiet hours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING

from schedules.cron import Occurrences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedules.model import Times

MINUTE = 60
DAY = 86_400
MOST_DAYS = 35
TINY = 1e-9  # what adding up leaves of nothing
MOST_LOOKED_AT = 700_000
"""Starts of distinct schedules that are walked through; many frequent ones shorten the time looked at."""


@dataclass(slots=True)
class Starts:
    """Starts from `begin` (Unix time of a full minute) on, for `days` whole days.

    `exact` counts starts by second. Jittered starts are spread evenly over the jitter: `spread` are starts a second, by minute.
    """

    begin: int
    days: int
    exact: Counter[int] = field(default_factory=Counter)
    spread: list[float] = field(default_factory=list)

    def crowded(self, limit: float) -> dict[int, int]:
        """By minute (Unix time), the most starts expected in one of its seconds, where that is more than the limit."""
        found: dict[int, int] = {}
        for second, count in self.exact.items():
            minute = second - second % MINUTE
            expected = count + self.spread[(minute - self.begin) // MINUTE]
            if expected > limit:
                found[minute] = max(found.get(minute, 0), round(expected))
        for place, expected in enumerate(self.spread):
            if expected > limit:
                found.setdefault(self.begin + place * MINUTE, round(expected))
        return dict(sorted(found.items()))

    def quiet(self, weekdays: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Spans of minutes of the UTC day, longest first, in which nothing starts on the weekdays (0 = Monday)."""
        chosen = set(weekdays)
        busy = {
            (second % DAY) // MINUTE for second in self.exact if datetime.fromtimestamp(second, UTC).weekday() in chosen
        }
        for place, expected in enumerate(self.spread):
            at = self.begin + place * MINUTE
            if expected > TINY and datetime.fromtimestamp(at, UTC).weekday() in chosen:
                busy.add(at % DAY // MINUTE)
        edges = [-1, *sorted(busy), DAY // MINUTE]
        spans = [(before + 1, after) for before, after in pairwise(edges) if after - before > 1]
        yield from sorted(spans, key=lambda span: span[0] - span[1])


def count_starts(schedules: Iterable[Times], now: datetime) -> Starts:
    """The starts of schedules from a full minute after `now` on. Schedules that are alike are walked through once."""
    groups = Counter(_as_started(times) for times in schedules)
    begin = (int(now.timestamp()) // MINUTE + 1) * MINUTE
    walks = [(Occurrences(times), times.jitter, count) for times, count in groups.items()]
    days = _days([walk for walk, _, _ in walks], begin)
    starts = Starts(begin, days)
    changes = [0.0] * (days * DAY // MINUTE + 1)
    for walk, jitter, count in walks:
        for at in walk.between(_utc(begin), _utc(begin + days * DAY)):
            second = int(at.timestamp())
            if jitter:
                _spread(changes, second - begin, jitter, count)
            else:
                starts.exact[second] += count
    starts.spread = list(accumulate(changes))
    return starts


def _as_started(times: Times) -> Times:
    """Without the comments, which tell apart what starts alike."""
    bare = tuple(replace(calendar, comment="") for calendar in times.calendars)
    return replace(times, calendars=bare, exclusions=tuple(replace(each, comment="") for each in times.exclusions))


def _spread(changes: list[float], start: int, jitter: int, count: int) -> None:
    rate = count / jitter
    first, last = start // MINUTE, min((start + jitter) // MINUTE, len(changes) - 2)
    changes[first] += rate
    changes[last + 1] -= rate


def _days(walks: Sequence[Occurrences], begin: int) -> int:
    """As many days as can be walked through: at most five weeks, at least one day."""
    first_day = (_utc(begin), _utc(begin + DAY))
    a_day = sum(sum(1 for _ in islice(walk.between(*first_day), DAY)) for walk in walks)
    return max(1, min(MOST_DAYS, MOST_LOOKED_AT // max(a_day, 1)))


def _utc(at: int) -> datetime:
    return datetime.fromtimestamp(at, UTC)
