"""Jobs that spec files declare: whether each has its schedule, whether that is in sync, and for how long. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from activities.contract import HASH_ATTRIBUTE, OWNER_ATTRIBUTE
from schedules.cron.occurrences import next_after
from schedules.model import ListedSchedule
from schedules.plan.listed import listed_equal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.model import DesiredSchedule


@dataclass(frozen=True, slots=True)
class Declared:
    """`drifted` is None of a job without a schedule. From `exact_until` on, a sync has to compile it again."""

    job: str
    owner: str
    missing: bool
    drifted: bool | None = None
    exact_until: datetime | None = None


def declared(desired: Mapping[str, DesiredSchedule], listed: Mapping[str, Job], now: datetime) -> Iterator[Declared]:
    """Each job of the files; one whose times are all over needs no schedule."""
    for name, schedule in desired.items():
        job = listed.get(name)
        missing = job is None and next_after(schedule.times, now) is not None
        drifted = None if job is None else not listed_equal(schedule, _as_listed(job))
        yield Declared(name, schedule.owner, missing, drifted, schedule.exact_until)


def _as_listed(job: Job) -> ListedSchedule:
    marks = {OWNER_ATTRIBUTE: job.owner, HASH_ATTRIBUTE: job.fingerprint}
    return ListedSchedule(job.name, job.times, job.workflow_type, job.paused, marks)
