"""What `describe_job` writes for the Web UI is read again as it was said."""

from __future__ import annotations

from typing import Any

import pytest

from schedules.spec.describe import Written, describe_job, written_of
from tests.factories import job


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({}, Written("0 8 * * 1-5")),
        ({"dst": {"gap": "skip"}}, Written("0 8 * * 1-5", gap="skip")),
        ({"dst": {"repeat": "both"}}, Written("0 8 * * 1-5", repeat="both")),
        (
            {"labels": {"team": "a"}, "contact": "us", "runbook": "https://wiki/x", "description": "One.\n\nTwo."},
            Written("0 8 * * 1-5", labels="team=a", contact="us", runbook="https://wiki/x", description="One.\n\nTwo."),
        ),
        ({"schedule": {"every": "5m"}, "description": "Alone."}, Written("every 5m", description="Alone.")),
        (
            {"run": None, "steps": [{"name": "a", "command": ["x"]}, {"name": "b", "command": ["y"]}]},
            Written("0 8 * * 1-5"),
        ),
    ],
)
def test_what_was_written_is_read_again(fields: dict[str, Any], written: Written) -> None:
    assert written_of(describe_job(job(**fields), "billing/production")) == written


def test_words_of_somebody_else_say_nothing() -> None:
    assert written_of("**Contact** mallory") == Written()
