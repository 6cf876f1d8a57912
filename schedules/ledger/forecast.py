"""Starts in a span of time, and their fate if nothing could start until its end. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from activities.overlap import overlap_policy
from schedules.cron.occurrences import between
from schedules.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from activities.contract import CatchUpRequest
    from activities.overlap import Overlap
    from schedules.model import Times

MINUTE = timedelta(minutes=1)
MOST_STARTS = 1_000_000
"""Starts of distinct schedules that are worked out."""
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Planned:
    """A job as far as a forecast goes. `overlap` None: its policies are not known. `window` is seconds.

    `resumes_at` is when its pause ends by itself; None for one that does not.
    """

    name: str
    times: Times
    paused: bool = False
    overlap: Overlap | None = None
    window: int | None = None
    catchup: CatchUpRequest | None = None
    resumes_at: datetime | None = None

    def held_back(self, at: datetime) -> bool:
        """Whether a pause of now keeps it from starting then."""
        return self.paused and (self.resumes_at is None or at < self.resumes_at)


@dataclass(frozen=True, slots=True)
class Effect:
    """The fate of a window's starts when nothing can start in it: `late` run at its end, the others never do."""

    late: tuple[datetime, ...] = ()
    skipped: int = 0
    too_late: int = 0


@dataclass(frozen=True, slots=True)
class JobForecast:
    """One job that starts in the span; `effect` is None where its policies are not known."""

    job: Planned
    starts: tuple[datetime, ...]
    effect: Effect | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """`minutes` are starts by minute, by their scheduled times; `quiet` are spans without any, longest first."""

    start: datetime
    end: datetime
    jobs: list[JobForecast]
    paused: list[JobForecast]
    minutes: dict[datetime, int] = field(default_factory=dict)
    quiet: list[tuple[datetime, datetime]] = field(default_factory=list)

    @property
    def starts(self) -> int:
        """All of them."""
        return sum(self.minutes.values())

    @property
    def crowded(self) -> list[tuple[datetime, int]]:
        """The minutes with the most starts, of those with more than one, most first."""
        ranked = sorted(self.minutes.items(), key=lambda item: (-item[1], item[0]))
        return [(minute, count) for minute, count in ranked[:MOST_NAMED] if count > 1]


def forecast(jobs: Iterable[Planned], start: datetime, end: datetime) -> Forecast:
    """From start up to, and not including, end. Raises SettingsError where there are too many starts to work out."""
    walked: dict[Times, tuple[datetime, ...]] = {}
    found: list[JobForecast] = []
    paused: list[JobForecast] = []
    minutes: Counter[datetime] = Counter()
    left = MOST_STARTS
    for job in sorted(jobs, key=lambda job: job.name):
        if job.times not in walked:
            walked[job.times] = tuple(islice(between(job.times, start, end), left + 1))
            left -= len(walked[job.times])
        if left < 0:
            raise SettingsError(f"more than {MOST_STARTS:,} starts: write a shorter --for")
        starts = walked[job.times]
        held = tuple(at for at in starts if job.held_back(at))
        free = starts[len(held) :]
        if held:
            paused.append(JobForecast(job, held, effect_of(job, held, end)))
        if free:
            found.append(JobForecast(job, free, effect_of(job, free, end)))
        minutes.update(at.replace(second=0) for at in free)
    return Forecast(start, end, found, paused, dict(sorted(minutes.items())), _quiet(minutes, start, end))


def effect_of(job: Planned, starts: Sequence[datetime], end: datetime) -> Effect | None:
    """The effect of the job's policies on starts, oldest first, that all have to wait until `end`."""
    if job.overlap is None:
        return None
    if job.catchup is None:
        return _native(job, starts, end)
    policy = job.catchup
    punctual = [at for at in starts if _late(at, end) <= policy.late_after]
    missed = [at for at in starts if _late(at, end) > policy.late_after]
    most = {"skip": 0, "run_latest": 1, "run_all": policy.max_missed}[policy.policy]
    deadline = policy.start_deadline
    in_time = [at for at in missed if deadline is None or _late(at, end) <= deadline]
    run = in_time[-most:] if most else []
    return Effect((*run, *punctual), len(in_time) - len(run), len(missed) - len(in_time))


def _native(job: Planned, starts: Sequence[datetime], end: datetime) -> Effect:
    """A schedule without a catch-up policy of ours: the server's own window and overlap decide."""
    within = [at for at in starts if job.window is None or _late(at, end) <= job.window]
    policy = overlap_policy(job.overlap)
    most = policy.runs_after_outage
    run = within if most is None else within[-most:] if policy.ends_other else within[:most]
    return Effect((*run,), len(within) - len(run), len(starts) - len(within))


def _late(at: datetime, end: datetime) -> float:
    return (end - at).total_seconds()


def _quiet(minutes: Iterable[datetime], start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    first = start.astimezone(UTC).replace(second=0, microsecond=0)
    edges = [first - MINUTE, *sorted(minutes), end]
    spans = [(max(before + MINUTE, start), after) for before, after in pairwise(edges)]
    return sorted((span for span in spans if span[1] - span[0] > MINUTE), key=lambda span: span[0] - span[1])[
        :MOST_NAMED
    ]
