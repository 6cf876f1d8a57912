"""A job as a value: with its runs all that is needed to account for its occurrences. Pure."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from activities.account.facts import ScheduleFacts
from schedules.cron.occurrences import Occurrences, occurrences_of
from schedules.server.translate_times import from_spec

if TYPE_CHECKING:
    from datetime import datetime

    from temporalio.api.schedule.v1 import ScheduleSpec

    from schedules.model import Times


@dataclass(frozen=True, slots=True)
class Job(ScheduleFacts):
    """A job's schedule as the server has it now. `exact` says that its times are all there, which List does not promise.

    `limit` is how long a run may take whose steps need one attempt each; `fingerprint` is that of what a sync last wrote.
    `next_times` are the next starts as the server tells them, each with its jitter.
    """

    times: Times
    owner: str = ""
    _: KW_ONLY
    exact: bool = True
    task_queue: str = ""
    workflow_type: str = ""
    limit: timedelta | None = None
    fingerprint: str = ""
    next_times: tuple[datetime, ...] = ()
    details: str = ""  #: what the Web UI shows of it: `describe_job`

    @property
    def occurrences(self) -> Occurrences:
        """Its times."""
        return occurrences_of(self.times)

    @property
    def jitter(self) -> timedelta:
        """By how much a start may come after its scheduled time."""
        return timedelta(seconds=self.times.jitter)

    def next_start(self, now: datetime) -> datetime | None:
        """The next scheduled time; None where it is paused or has no actions left. Where its times are not all known, the server's word."""
        if self.paused or self.remaining == 0:
            return None
        if self.exact:
            return self.occurrences.next_after(now)
        return next((at for at in self.next_times if at > now), None)

    def occurrences_by(self, spec: ScheduleSpec) -> Occurrences:
        """The times of another spec, which it had before."""
        return occurrences_of(from_spec(spec))
