"""Jobs and runs that are valid by default; a job of every ten minutes, of which nothing is known but its times."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from activities.account.facts import Run
from schedules.ledger.facts import Job
from schedules.model import Interval, Times
from tests.factories import utc

TEN_MINUTES = Times("Europe/Berlin", intervals=(Interval(600),))
NOON = utc("2027-03-01T12:00")
MINUTE = timedelta(minutes=1)


def job(**fields: Any) -> Job:
    return Job(**{"name": "relay", "times": TEN_MINUTES, "owner": "billing/production", "overlap": "skip", **fields})


def run(scheduled_at: datetime, took: timedelta | None = MINUTE, late: timedelta = timedelta(0), **fields: Any) -> Run:
    """A run by the schedule that succeeded; `took` None for one that goes on."""
    started = scheduled_at + late
    given: dict[str, Any] = {
        "id": f"relay-{scheduled_at:%Y-%m-%dT%H:%M:%SZ}",
        "run_id": f"run-{scheduled_at:%H%M%S}-{late.total_seconds():g}",
        "scheduled_at": scheduled_at,
        "started_at": started,
        "closed_at": None if took is None else started + took,
        "status": "running" if took is None else "completed",
        "scheduled_by": "relay",
    }
    return Run(**{**given, **fields})
