"""Which occurrences of a span are to run, and how long that takes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING

from activities.account.facts import NEVER
from activities.occurrence import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from activities.account.facts import Run, Verdict
    from activities.contract import BackfillProgress
    from schedules.ledger.occurrences import Occurrence

GOES_ON: frozenset[Verdict] = frozenset({"running", "waiting", "buffered", "due", "not_yet_due"})
"""The schedule has started it, or will."""
NOT_PAUSED: frozenset[Verdict] = frozenset(
    {"buffered", "overlap_skipped", "not_yet_due", "before_creation", "not_due_then", "used_up", "forgotten"}
)
"""Without a run, though the schedule was not paused."""
SIDE_BY_SIDE = 5
"""How many a backfill runs at a time where the job's overlap is `allow_all`."""


@dataclass(frozen=True, slots=True)
class Holes:
    """The occurrences of a span that are to `run`, oldest first; the others by why they are not."""

    expected: int
    run: tuple[Occurrence, ...]
    succeeded: tuple[Occurrence, ...] = ()
    going: tuple[Occurrence, ...] = ()
    unknown: tuple[Occurrence, ...] = ()

    @property
    def times(self) -> list[str]:
        """Their scheduled times."""
        return [stamp(each.scheduled_at) for each in self.run]


def holes(
    occurrences: Sequence[Occurrence], *, again: bool = False, missing: bool = False, kept_since: datetime = NEVER
) -> Holes:
    """Without a success, or all with `again`.

    What the namespace has forgotten may have run, and so may all that is older than what it keeps: `missing` leaves it out.
    """
    due = [each for each in occurrences if each.expected]
    going = tuple(each for each in due if each.verdict in GOES_ON)
    succeeded = tuple(each for each in due if _has_succeeded(each) and each not in going)
    unknown = tuple(each for each in due if _may_have_run(each, kept_since)) if missing else ()
    left_out = {each.scheduled_at for each in (*going, *unknown, *(() if again else succeeded))}
    return Holes(len(due), tuple(each for each in due if each.scheduled_at not in left_out), succeeded, going, unknown)


def of_pause(occurrences: Sequence[Occurrence], since: datetime, resumed: datetime, most: int | None) -> list[str]:
    """Of the newest `most` times of a pause (None: of all) those that have neither succeeded nor go on, oldest first.

    `since` and `resumed` are when the pause and its end were asked for. Times just before and just after are of the pause unless
    the schedule has started them or will: it may have been late with them.
    """
    due = [each for each in occurrences if each.expected]
    paused = [
        each for each in due if since <= each.scheduled_at <= resumed or not (each.run or each.verdict in NOT_PAUSED)
    ]
    newest = paused if most is None else paused[-most:]
    left = [each for each in newest if not (_has_succeeded(each) or (each.run and each.verdict in GOES_ON))]
    return [stamp(each.scheduled_at) for each in left]


def _may_have_run(occurrence: Occurrence, kept_since: datetime) -> bool:
    """Without a run that is kept; whatever else is known of it, one asked for by hand leaves no other trace."""
    if occurrence.run is not None or occurrence.verdict in GOES_ON:
        return False
    return occurrence.verdict == "forgotten" or occurrence.scheduled_at < kept_since


def _has_succeeded(occurrence: Occurrence) -> bool:
    """Also by an earlier run under its id."""
    return occurrence.verdict == "succeeded" or any(run.verdict == "succeeded" for run in occurrence.others)


def estimate(runs: Iterable[Run], count: int, interval: float, *, side_by_side: bool) -> timedelta | None:
    """The duration of so many occurrences, by the median of the runs that have succeeded; None where none has."""
    ended = [run for run in runs if run.verdict == "succeeded"]
    took = [span.total_seconds() for run in ended if (span := run.duration) is not None]
    if not took:
        return None
    one = median(took) / (SIDE_BY_SIDE if side_by_side else 1)
    return timedelta(seconds=count * max(one, interval))


def progress_text(progress: BackfillProgress) -> str:
    """`3 of 12 done: 2 succeeded, 1 failed`."""
    left_out = f", {progress.left_out} no longer needed" if progress.left_out else ""
    return (
        f"{progress.done} of {progress.total} done: {progress.succeeded} succeeded, {progress.failed} failed{left_out}"
    )
