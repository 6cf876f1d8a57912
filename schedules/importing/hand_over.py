"""The moment at which the new side takes over from the old one: proposed between two times, and checked afterwards. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import Any, Final

from activities.occurrence import stamp
from schedules.cron.occurrences import occurrences_of
from schedules.importing.comparison import FARTHEST, SHOWN, compare, reach_of
from schedules.importing.evidence import OldStart, Side
from schedules.recurrence import Times
from schedules.text.shown import some_of

LEAD: Final = timedelta(minutes=10)
"""So far ahead at least, for somebody to make ready for it."""
AHEAD: Final = timedelta(days=1)
ENOUGH: Final = timedelta(minutes=5)
"""A pause of all jobs that is long enough to edit a crontab in."""
SETTLES: Final = timedelta(seconds=10)
"""So long after its time a run is in every list."""
MOST_TIMES: Final = 2_000
STOP: Final[Mapping[Side, str]] = {
    "cron": "comment out `{key}`",
    "cronjob": 'kubectl patch cronjob {key} -p \'{{"spec":{{"suspend":true}}}}\'',
    "celery": "disable the entry `{key}` of beat",
    "other": "stop `{key}`",
}


@dataclass(frozen=True, slots=True)
class Boundary:
    """A moment at which no job has a time, with the nearest times around it; all in UTC."""

    at: datetime
    after: datetime
    before: datetime


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What became of a job's times around the `at` of its handover: by the old side, by this one, by both, by neither."""

    job: str
    at: datetime
    old: tuple[datetime, ...]
    new: tuple[datetime, ...]
    twice: tuple[datetime, ...]
    neither: tuple[datetime, ...]

    @property
    def equal(self) -> bool:
        """Whether each time was done once."""
        return not self.twice and not self.neither and bool(self.new)

    @property
    def verdict(self) -> str:
        """One line for a person."""
        done = f"handed over at {stamp(self.at)}: {len(self.old)} by the old side, {len(self.new)} here"
        if self.twice or self.neither:
            return f"{done}; {len(self.twice)} twice, {len(self.neither)} by neither"
        return f"{done}, each once" if self.new else f"{done}; none here yet"


def boundary(jobs: Iterable[Times], now: datetime) -> Boundary | None:
    """The middle of the first pause of all the jobs that is long enough, or of the longest within a day; None where there is none."""
    begin, end = now + LEAD, now + LEAD + AHEAD
    found = [
        list(islice(occurrences_of(replace(each, start_at=None)).between(begin, end), MOST_TIMES)) for each in jobs
    ]
    end = min([end, *(times[-1] for times in found if len(times) == MOST_TIMES)])
    times = {begin, end}.union(*([at for at in each if at < end] for each in found))
    pauses = [(after, before) for after, before in pairwise(sorted(times)) if before - after > timedelta(seconds=1)]
    if not pauses:
        return None
    chosen = next((each for each in pauses if each[1] - each[0] >= ENOUGH), None)
    after, before = chosen or max(pauses, key=lambda each: each[1] - each[0])
    return Boundary((after + (before - after) / 2).replace(microsecond=0), after, before)


def handed_over(
    job: str, times: Times, live: Iterable[datetime], old: Sequence[OldStart], since: datetime, now: datetime
) -> HandedOver:
    """Each time of a job with a `start_at`, from the first evidence on, counted by who did it. `live` are the times of runs that worked."""
    if times.start_at is None:
        raise ValueError(f"{job} has no start_at")
    expected = list(occurrences_of(replace(times, start_at=None)).between(since - FARTHEST, now))
    until = now - max(reach_of(expected), SETTLES)
    expected = [at for at in expected if at <= until]
    starts = [each.at for each in old if not each.claims]
    found = compare(job, times.timezone, expected, starts, since, until)
    here, by_old = set(live) & set(expected), {at for at, _ in found.matched}
    missing = {at for at in expected if at >= since} - here - by_old
    return HandedOver(
        job,
        times.start_at,
        tuple(sorted(by_old)),
        tuple(sorted(here)),
        tuple(sorted(here & by_old)),
        tuple(sorted(missing)),
    )


def proposal(found: Boundary, sides: Mapping[str, OldStart], next_times: Mapping[str, datetime]) -> Iterator[str]:
    """What to do at the boundary: `sides` is a start of each job's old side, `next_times` its first time here."""
    yield f"hand over at {stamp(found.at)}: no job of these has a time between {stamp(found.after)} and {stamp(found.before)}"
    yield f"  tickwright sync --from {stamp(found.at)} …, now; and on the old side, between these two times:"
    for job, start in sides.items():
        first = f"first run here {stamp(next_times[job])}" if job in next_times else "no run to come"
        yield f"  {job}: {stop_text(start)} ({first})"


def stop_text(start: OldStart) -> str:
    """How the old side of a job is stopped."""
    return STOP[start.side].format(key=start.key)


def handed_over_lines(found: HandedOver) -> Iterator[str]:
    """The verdict, and the times that are wrong."""
    yield f"{found.job}: {found.verdict}"
    for name, times in (("twice", found.twice), ("by neither", found.neither)):
        if times:
            yield f"  {name}: {some_of([stamp(at) for at in times], SHOWN)}"


def handed_over_document(found: HandedOver) -> dict[str, Any]:
    """For JSON."""
    return {
        "job": found.job,
        "equal": found.equal,
        "verdict": found.verdict,
        "handed_over_at": stamp(found.at),
        "old": len(found.old),
        "new": len(found.new),
        "twice": [stamp(at) for at in found.twice],
        "neither": [stamp(at) for at in found.neither],
    }
