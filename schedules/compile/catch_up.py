"""From what a spec says about missed runs to the server's catch-up window and what a late run is told. Pure.

The server knows no number of runs, only how late one may start. The window is a year, so that there always is a run that
decides about all that was missed and records what does not run. Under `allow_all` each missed occurrence in the window becomes a
run at once, so it is just long enough for those that are wanted.

No shorter window under `buffer_all`: on Temporal's V2 scheduler a start that has waited for the run before it for longer than the
window is dropped, and what waits behind it is never started (seen on 1.32.0). V1 counts from that run's end.
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from activities.contract import CatchUpRequest
from activities.occurrence import stamp
from activities.overlap import overlap_policy
from schedules.cron import Occurrences
from schedules.cron.offsets import END
from schedules.model import ZERO
from schedules.spec.catch_up import CatchUpSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.model import Times
    from schedules.spec.job import JobSpec

YEAR = 365 * 86_400
LEAST_WINDOW = 10
"""Seconds; the server takes no shorter one."""
SLACK = 10
"""Seconds that the server may need, after an outage, until it starts what was missed."""
LATEST = 60.0
LOOKED_AT = 24
"""Occurrences among which the shortest distance is looked for."""
LOOKED_AT_FIRST = 800
"""Occurrences among which the longest pause is looked for; three years of weekdays."""


def compile_catch_up(job: JobSpec, times: Times, begin: datetime) -> CatchUpRequest:
    """What a late run of the job is told; `begin` is where the horizon begins, so that a spec compiles alike all year."""
    spec = job.catchup or CatchUpSpec()
    deadline = job.start_deadline.total_seconds() if job.start_deadline else None
    late_after = late_after_of(times, begin) + times.jitter
    late_after = late_after if deadline is None else min(late_after, deadline)
    most = spec.max_missed or 1
    if not overlap_policy(job.overlap).side_by_side:
        window: float = YEAR
    else:
        span = late_after if spec.policy == "skip" else longest_span(times, begin, most)
        window = YEAR if span is None else math.ceil(span) + times.jitter + SLACK
    return CatchUpRequest(
        policy=spec.policy,
        overlap=job.overlap,
        late_after=late_after,
        window=float(max(LEAST_WINDOW, min(window, YEAR))),
        jitter=float(times.jitter),
        max_missed=most,
        start_deadline=deadline,
        end_at=stamp(times.end_at) if times.end_at else "",
    )


def late_after_of(times: Times, begin: datetime) -> float:
    """Up to how many seconds after its moment a run is on time: a minute, or half of the shortest distance if that is less."""
    shortest = _shortest_gap(times, begin)
    return LATEST if shortest is None else max(1.0, min(LATEST, shortest / 2))


def longest_span(times: Times, begin: datetime, count: int) -> float | None:
    """The most seconds that `count` successive occurrences and the pause after them take; None where they never are as many."""
    if _steady(times):
        return float(count * times.intervals[0].every)
    return _longest_of_many(_shape(times), begin, count)


def _shape(times: Times) -> Times:
    """Times that differ in the minute of the hour alone, as jobs of many names do, have the same distances."""
    alike = replace(times, jitter=0)
    if len(times.calendars) != 1 or times.intervals or times.exclusions or not _hourly_at_most(times):
        return alike
    return replace(alike, calendars=(replace(times.calendars[0], second=ZERO, minute=ZERO, comment=""),))


@lru_cache(maxsize=10_000)
def _longest_of_many(times: Times, begin: datetime, count: int) -> float | None:
    most = max(LOOKED_AT_FIRST, 4 * count)
    found = [at.timestamp() for at in islice(_from(times, begin), most)]
    longest = _span(found, count)
    if longest is None or len(found) < most or found[-1] - found[0] > YEAR:
        return longest
    return max(longest, _longest_pause(times, begin) + (_span(found, count - 1) or 0.0))


def _span(found: list[float], count: int) -> float | None:
    return max((later - earlier for earlier, later in zip(found, found[count:], strict=False)), default=None)


def _longest_pause(times: Times, begin: datetime) -> float:
    """What a few hundred occurrences may not show, such as a weekend: the longest wait from a midnight of the year on, and what lies before."""
    occurrences = Occurrences(times)
    midnights = (begin + timedelta(days=day) for day in range(366))
    waits = ((following - at, following) for at in midnights if (following := occurrences.next_after(at)))
    _, following = max(waits, default=(timedelta(0), begin))
    before = occurrences.previous_before(following)
    return (following - before).total_seconds() if before else 0.0


def _steady(times: Times) -> bool:
    return len(times.intervals) == 1 and not times.calendars and not times.exclusions


def _shortest_gap(times: Times, begin: datetime) -> float | None:
    if _steady(times):
        return float(times.intervals[0].every)
    if len(times.calendars) == 1 and not times.intervals and _hourly_at_most(times):
        return 3600.0
    return _shortest_of_some(times, begin)


def _hourly_at_most(times: Times) -> bool:
    """One second of one minute: whatever the other fields say, an hour lies between two."""
    [calendar] = times.calendars
    return all(len(field) == 1 and field[0].start == field[0].end for field in (calendar.second, calendar.minute))


@lru_cache(maxsize=10_000)
def _shortest_of_some(times: Times, begin: datetime) -> float | None:
    found = islice(_from(times, begin), LOOKED_AT)
    shortest = min((later - earlier for earlier, later in pairwise(found)), default=None)
    return None if shortest is None else shortest.total_seconds()


def _from(times: Times, begin: datetime) -> Iterator[datetime]:
    return Occurrences(times).between(begin, datetime.fromtimestamp(END, UTC))
