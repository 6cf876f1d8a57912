"""An occurrence without a run, and what can be asked about it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from activities.account.held_back import SLACK as HEARD
from activities.account.held_back import held_back

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from activities.account.facts import Run, ScheduleFacts, Verdict
    from activities.account.record import SchedulerRecord

SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Reason:
    """`evidence` is what was seen that bears it; `certain` is False where it is the likeliest of several."""

    verdict: Verdict
    text: str
    evidence: tuple[str, ...] = ()
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """One occurrence without a run, and all that can be asked about it; `runs` are the job's, oldest first.

    `jittered` is by time when it really came, where the server was asked; `quiet` are the times after which nothing of the
    namespace went on, for as long as makes a start late.
    """

    at: datetime
    job: ScheduleFacts
    runs: Sequence[Run]
    now: datetime
    record: SchedulerRecord | None = None
    jittered: Mapping[datetime, datetime] = field(default_factory=dict)
    quiet: Collection[datetime] = ()

    @property
    def history(self) -> SchedulerRecord | None:
        """The record where it reaches back to the occurrence."""
        return self.record if self.record and self.record.knows(self.at) else None

    @property
    def slack(self) -> timedelta:
        """For how long a start may still come, jitter included."""
        return self.job.patience

    @property
    def is_older(self) -> bool:
        """Whether it is from before the schedule of today."""
        return self.job.created_at is not None and self.at < self.job.created_at

    @property
    def may_be_forgotten(self) -> bool:
        """Whether its run may have ended so long ago that it is not kept."""
        return self.job.retention is not None and self.at < self.now - self.job.retention

    @property
    def has_run_after(self) -> bool:
        """Whether the schedule has started a later one."""
        return any(run.scheduled_at > self.at and run.scheduled_by for run in self.runs)

    @property
    def may_be_asked_for(self) -> bool:
        """Whether somebody may have asked for its run: V1 keeps the request, V2 the time of the last write."""
        return self.history is None or self.history.asked_for(self.at) is not None

    def heard_of(self, run: Run) -> datetime | None:
        """When the schedule heard of the end of a run: as it looked next, or within a moment; None of one that goes on."""
        if run.closed_at is None:
            return None
        looked = self.history.wake_from(run.closed_at) if self.history and self.history.has_signs(self.at) else None
        return looked or run.closed_at + HEARD

    @property
    def unknown_before(self) -> datetime | None:
        """The moment before which, at the occurrence, nothing is known of the schedule any more: V2 keeps the last write alone."""
        later = [begin for begin, _ in self.record.spans if begin > self.at] if self.record else []
        since = min(later, default=self.job.updated_at)
        return None if self.history or since is None or self.at >= since else since

    @property
    def dropped(self) -> tuple[str, ...]:
        """What the server counts of starts that came to nothing, as evidence."""
        count = self.job.dropped
        return (f"the server counts {count} starts outside the catch-up window so far",) if count else ()

    @property
    def window(self) -> tuple[datetime, datetime]:
        """The first and the last instant at which it may have come; with jitter they differ unless the server was asked."""
        if due := self.jittered.get(self.at):
            return due, due
        return self.at, self.at + self.job.jitter

    def holder(self) -> Run | None:
        """A run that was at work then; one started by hand under an occurrence's id holds nothing back."""
        first, last = self.window
        at_work = (run for run in self.runs if held_back(first, last, run.started_at, run.closed_at))
        return next((run for run in at_work if run.scheduled_by or run.parent), None)
