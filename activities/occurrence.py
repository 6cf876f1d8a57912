"""Occurrences of a job: their ids, their scheduled times, and how a time is written. Pure.

An occurrence's id is `JOB-2027-03-01T08:00:00Z`: it is the workflow id of its run, whoever starts it. Only where several starts
waited while their schedule moved to Temporal's V2 scheduler, that put `-1`, `-2` … behind the workflow ids of all but the first.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from collections.abc import Sequence

JobName = NewType("JobName", str)
OccurrenceId = NewType("OccurrenceId", str)

STAMP = "%Y-%m-%dT%H:%M:%SZ"
STAMP_LENGTH = len("2027-03-01T08:00:00Z")
LAST_MOVED = "-99999"
"""Behind an occurrence's id: an upper bound of the workflow ids of its runs, in the order of text."""
_MOVED = re.compile(r"(\d\d:\d\d:\d\dZ)-\d{1,5}$")


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC, whole seconds, of an aware time: `2027-03-01T08:00:00Z`."""
    return at.astimezone(UTC).strftime(STAMP)


def occurrence_id(job: str, at: datetime) -> OccurrenceId:
    """The id of a job's occurrence at an aware time."""
    return OccurrenceId(f"{job}-{stamp(at)}")


def occurrence_of(workflow_id: str) -> OccurrenceId:
    """The occurrence's id in the workflow id of its run."""
    return OccurrenceId(_MOVED.sub(r"\1", workflow_id))


def run_among(workflow_ids: Sequence[str], occurrence: str) -> str:
    """The workflow id of the occurrence's newest run among a schedule's last ones, oldest first; the occurrence's id where none is its."""
    return next((each for each in reversed(workflow_ids) if occurrence_of(each) == occurrence), occurrence)


def scheduled_time(workflow_id: str) -> datetime | None:
    """The scheduled time in the workflow id of a run; None for an id that ends in no time."""
    try:
        return datetime.strptime(occurrence_of(workflow_id)[-STAMP_LENGTH:], STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def job_of(workflow_id: str) -> JobName:
    """The job in the workflow id of a run."""
    return JobName(occurrence_of(workflow_id)[: -STAMP_LENGTH - len("-")])
