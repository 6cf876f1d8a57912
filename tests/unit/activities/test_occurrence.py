"""Ids of occurrences and their times, there and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from activities.occurrence import job_of, occurrence_id, scheduled_time, stamp

AT = datetime(2027, 3, 1, 8, tzinfo=UTC)


def test_a_time_is_written_in_utc_whatever_its_zone_is() -> None:
    tokyo = AT.astimezone(timezone(timedelta(hours=9)))
    assert (stamp(AT), stamp(tokyo)) == ("2027-03-01T08:00:00Z", "2027-03-01T08:00:00Z")


@pytest.mark.parametrize("job", ["report", "daily-2027", "a-2027-03-01T08:00:00Z"])
def test_job_and_time_are_found_again_in_the_id(job: str) -> None:
    made = occurrence_id(job, AT)
    assert made == f"{job}-2027-03-01T08:00:00Z"
    assert (job_of(made), scheduled_time(made)) == (job, AT)


@pytest.mark.parametrize("given", ["", "report", "report-2027-03-01", "report-2027-13-01T08:00:00Z"])
def test_an_id_without_a_time_names_none(given: str) -> None:
    assert scheduled_time(given) is None
