"""What became of an occurrence, the run that it had and the schedule that it belongs to, as values. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from activities.occurrence import OccurrenceId, occurrence_id

if TYPE_CHECKING:
    from temporalio.api.schedule.v1 import ScheduleSpec

    from activities.account.due_times import Occurrences
    from activities.contract import CatchUpRequest, JobResult
    from activities.overlap import Overlap

Status = Literal["running", "completed", "failed", "cancelled", "terminated", "timed_out", "continued"]
Verdict = Literal[
    # what a run ended with, or does
    "succeeded",
    "failed",
    "timed_out",
    "cancelled",
    "terminated",
    "compensation_failed",
    "superseded",
    "too_late",
    "skipped",
    "shadow",
    "running",
    "waiting",
    # why there is no run
    "before_creation",
    "paused",
    "not_due_then",
    "overlap_skipped",
    "buffered",
    "missed",
    "used_up",
    "unknown",
    "forgotten",
    "due",
    "not_yet_due",
]
TROUBLE: frozenset[Verdict] = frozenset({"failed", "timed_out", "terminated", "compensation_failed"})
"""How a run ends that somebody must look at."""
NOT_RUN: frozenset[Verdict] = frozenset({"superseded", "too_late", "skipped", "shadow"})
"""A run was started and decided that there is nothing to do."""
LOST: frozenset[Verdict] = frozenset({"missed", "too_late"})
"""Occurrences that should have run and never will."""
LEFT_OUT: frozenset[Verdict] = frozenset({"overlap_skipped", "superseded", "skipped"})
"""Occurrences that a policy of the job has decided against."""
MISSABLE: frozenset[Verdict] = frozenset({"missed", "paused", "used_up", "due", "waiting", "too_late", "skipped"})
"""Occurrences of which `on_missed` tells people: none ran instead, or nobody is known to have wanted that."""
ENDINGS: dict[Status, Verdict] = {
    "running": "running",
    "completed": "succeeded",
    "failed": "failed",
    "cancelled": "cancelled",
    "terminated": "terminated",
    "timed_out": "timed_out",
    "continued": "running",
}
NEVER = datetime.min.replace(tzinfo=UTC)
SLACK = timedelta(seconds=10)
"""A start that is due for less long may still come."""


@dataclass(frozen=True, slots=True)
class Run:
    """A workflow run of an occurrence, all times in UTC. `marked` is its outcome attribute.

    `result` is None until it was read, and for runs that end without one; then `said` is its failure's message,
    or why that cannot be read. `waiting`: no worker has taken it yet.
    `asked_by_hand`: a backfill started it itself, not the schedule. `links`: so many workflow runs in a row are one, since the
    server retried it or it continued as new. `taken_at`: when a worker was first seen to have it, if it was seen to wait before.
    """

    id: str
    run_id: str
    scheduled_at: datetime
    started_at: datetime
    closed_at: datetime | None = None
    status: Status = "running"
    marked: str = ""
    scheduled_by: str = ""
    parent: str = ""
    task_queue: str = ""
    result: JobResult | None = None
    said: str = ""
    waiting: bool = False
    asked_by_hand: bool = False
    build: str = ""  #: of the workers whose coming up started it (`@reboot`)
    links: int = 1
    taken_at: datetime | None = None
    stuck: str = ""
    """Why its workflow task has failed again and again, as the server names the cause; empty where it has not."""

    @property
    def verdict(self) -> Verdict:
        """The outcome, as exactly as what was read of it tells."""
        if self.status == "running" and self.waiting:
            return "waiting"
        if self.status == "running":
            return "running"
        told = self.result.outcome if self.result else self.marked
        return told if told in ENDED else ENDINGS[self.status]  # type: ignore[return-value]  # one of ENDED, or an ending

    @property
    def reason(self) -> str:
        """Why it ended as it did, as far as its end tells, or why it does not get on."""
        if self.stuck:
            return f"its workflow task fails again and again ({self.stuck}), so the run cannot continue; the worker's log has the reason"
        return self.result.reason if self.result else self.said

    @property
    def lateness(self) -> timedelta:
        """Start minus scheduled time; with a result, the start by a worker counts and not that by the server."""
        if self.result:
            return timedelta(seconds=self.result.lateness)
        return self.started_at - self.scheduled_at

    @property
    def duration(self) -> timedelta | None:
        """From its start to its end, None while it goes on; with a result from when a worker took it, else from its start by the server."""
        if self.closed_at is None:
            return None
        if self.result:
            return timedelta(seconds=self.result.duration)
        return self.closed_at - self.started_at


ENDED: frozenset[str] = TROUBLE | NOT_RUN | {"succeeded", "cancelled"}


@dataclass(frozen=True, slots=True)
class ScheduleFacts(ABC):
    """What a job's schedule tells of itself now.

    `remaining` is None without a limit; `window` is seconds; `dropped` and `skipped` are the server's own counts, since
    the schedule exists, of starts outside the catch-up window and of starts left out by overlap. `recent` are the workflow ids of its
    last starts. `deleted_at` is set of a job that only its runs and its scheduler's history still tell of. `is_v2` says which of
    Temporal's schedulers it is on.
    """

    name: str
    _: KW_ONLY
    paused: bool = False
    note: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    overlap: Overlap | None = None
    window: int | None = None
    catchup: CatchUpRequest | None = None
    remaining: int | None = None
    waiting: int = 0
    dropped: int = 0
    skipped: int = 0
    workflow_id: str = ""
    retention: timedelta | None = None
    recent: tuple[str, ...] = ()
    deleted_at: datetime | None = None
    is_v2: bool = False

    @property
    @abstractmethod
    def occurrences(self) -> Occurrences:
        """Its times."""

    @property
    @abstractmethod
    def jitter(self) -> timedelta:
        """By how much a start may come after its scheduled time."""

    @property
    def on_time(self) -> timedelta:
        """By how much a run, or a look of its scheduler, may come after the scheduled time: what comes later may have been missed."""
        return timedelta(seconds=self.catchup.late_after) if self.catchup else SLACK + self.jitter

    @property
    def patience(self) -> timedelta:
        """For how long after its scheduled time a start may still come although nothing was away: a server may be busy."""
        return max(SLACK + self.jitter, self.on_time)

    @abstractmethod
    def occurrences_by(self, spec: ScheduleSpec) -> Occurrences:
        """The times of another spec, which it had before."""

    @property
    def prefix(self) -> str:
        """What the workflow ids of its runs begin with, before the time."""
        return f"{self.workflow_id or self.name}-"

    def occurrence_id(self, at: datetime) -> OccurrenceId:
        """The workflow id of its run at an aware time."""
        return occurrence_id(self.workflow_id or self.name, at)


@dataclass(frozen=True, slots=True)
class Accounted:
    """What became of one time of a job, with its run if there is one, and those of the job's other runs that go on."""

    verdict: Verdict
    reason: str
    run: Run | None = None
    open_runs: tuple[Run, ...] = ()
    paused_now: bool = False
