"""Values that are valid by default; a test names only what it is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from schedules.model import Action, Calendar, DesiredSchedule, ObservedSchedule, Policies, Range, RuntimeState, Times
from schedules.plan.fingerprint import fingerprint
from schedules.spec.job import JobSpec

NOW = datetime(2027, 3, 1, tzinfo=UTC)
EIGHT_ON_WEEKDAYS = Calendar(hour=(Range(8, 8),), day_of_week=(Range(1, 5),))


def job(name: str = "invoice-dunning", **fields: Any) -> JobSpec:
    """A job that runs `true` on weekdays at 08:00 in New York."""
    given: dict[str, Any] = {
        "schedule": "0 8 * * 1-5",
        "timezone": "America/New_York",
        "timeout": timedelta(minutes=5),
        "run": {"command": ["true"]},
    }
    return JobSpec.model_validate({"name": name, **given, **fields})


def desired(name: str = "invoice-dunning", **fields: Any) -> DesiredSchedule:
    """The schedule that such a job could compile to."""
    whole = DesiredSchedule(
        id=name,
        owner="billing/production",
        times=Times("America/New_York", (EIGHT_ON_WEEKDAYS,)),
        action=Action("JobWorkflow", "tickwright", ({"job": name},)),
        policies=Policies("skip", 3600),
    )
    return replace(whole, **fields)


def observed(schedule: DesiredSchedule, **fields: Any) -> ObservedSchedule:
    """The server's view of a schedule that is in sync."""
    whole = ObservedSchedule(
        id=schedule.id,
        times=schedule.times,
        action=schedule.action,
        policies=schedule.policies,
        state=RuntimeState(),
        version=b"1",
        search_attributes={"TickwrightOwner": schedule.owner, "TickwrightHash": fingerprint(schedule)},
        encryption=schedule.encryption,
    )
    return replace(whole, **fields)


def utc(text: str) -> datetime:
    """`2027-03-01T09:00` in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
