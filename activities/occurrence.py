"""Occurrences of a job: their ids, their scheduled times, and how a time is written. Pure.

An occurrence's id is `JOB-2027-03-01T08:00:00Z`: it is the workflow id of its run, whoever starts it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NewType

JobName = NewType("JobName", str)
OccurrenceId = NewType("OccurrenceId", str)

STAMP = "%Y-%m-%dT%H:%M:%SZ"
STAMP_LENGTH = len("2027-03-01T08:00:00Z")


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC, whole seconds, of an aware time: `2027-03-01T08:00:00Z`."""
    return at.astimezone(UTC).strftime(STAMP)


def occurrence_id(job: str, at: datetime) -> OccurrenceId:
    """The id of a job's occurrence at an aware time."""
    return OccurrenceId(f"{job}-{stamp(at)}")


def scheduled_time(workflow_id: str) -> datetime | None:
    """The scheduled time in an occurrence's id; None for an id that ends in no time."""
    try:
        return datetime.strptime(workflow_id[-STAMP_LENGTH:], STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def job_of(occurrence: str) -> JobName:
    """The job in an occurrence's id."""
    return JobName(occurrence[: -STAMP_LENGTH - len("-")])
