"""What `describe_job` writes for the Web UI is read again as it was said."""

from __future__ import annotations

from typing import Any

import pytest

from schedules.spec.describe import Written, describe_job, written_of
from tests.factories import job


def written(schedule: str, runs: str = "command `true`", **more: str) -> Written:
    """Of the job that `job` makes."""
    limits = "timeout 5m, 1 attempt, overlap skip"
    return Written(schedule, timezone="America/New_York", runs=runs, limits=limits, **more)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, written("0 8 * * 1-5")),
        ({"dst": {"gap": "skip"}}, written("0 8 * * 1-5", gap="skip")),
        ({"dst": {"repeat": "both"}}, written("0 8 * * 1-5", repeat="both")),
        (
            {"labels": {"team": "a"}, "contact": "us", "runbook": "https://wiki/x", "description": "One.\n\nTwo."},
            written("0 8 * * 1-5", labels="team=a", contact="us", runbook="https://wiki/x", description="One.\n\nTwo."),
        ),
        ({"schedule": {"every": "5m"}, "description": "Alone."}, written("every 5m", description="Alone.")),
        (
            {"run": None, "steps": [{"name": "a", "command": ["x"]}, {"name": "b", "command": ["y"]}]},
            written("0 8 * * 1-5", runs="2 steps"),
        ),
    ],
)
def test_what_was_written_is_read_again(fields: dict[str, Any], expected: Written) -> None:
    assert written_of(describe_job(job(**fields), "billing/production")) == expected


def test_calendars_are_told_from_the_schedule() -> None:
    fields: dict[str, Any] = {"only": ["work", "open"], "except": ["freeze"], "on_holiday": "next_business_day"}

    assert written_of(describe_job(job(**fields), "billing/production")).calendars == {
        "schedule": "0 8 * * 1-5",
        "only": "work and open",
        "except": "freeze",
        "on_holiday": "next_business_day",
    }


def test_words_of_somebody_else_say_nothing() -> None:
    assert written_of("**Contact** mallory") == Written()
