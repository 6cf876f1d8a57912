"""Ids of occurrences and their times, there and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from activities.occurrence import LAST_MOVED, job_of, occurrence_id, occurrence_of, run_among, scheduled_time, stamp

AT = datetime(2027, 3, 1, 8, tzinfo=UTC)


def test_a_time_is_written_in_utc_whatever_its_zone_is() -> None:
    tokyo = AT.astimezone(timezone(timedelta(hours=9)))
    assert (stamp(AT), stamp(tokyo)) == ("2027-03-01T08:00:00Z", "2027-03-01T08:00:00Z")


@pytest.mark.parametrize("job", ["report", "daily-2027", "a-2027-03-01T08:00:00Z"])
def test_job_and_time_are_found_again_in_the_id(job: str) -> None:
    made = occurrence_id(job, AT)
    assert made == f"{job}-2027-03-01T08:00:00Z"
    assert (job_of(made), scheduled_time(made)) == (job, AT)


@pytest.mark.parametrize("number", [1, 12, 999])
@pytest.mark.parametrize("job", ["report", "daily-2027", "a-2027-03-01T08:00:00Z"])
def test_the_number_of_a_start_that_moved_to_v2_is_no_part_of_its_occurrence(job: str, number: int) -> None:
    moved = f"{occurrence_id(job, AT)}-{number}"
    assert occurrence_of(moved) == occurrence_of(occurrence_id(job, AT)) == occurrence_id(job, AT)
    assert (job_of(moved), scheduled_time(moved)) == (job, AT)
    following = occurrence_id(job, AT + timedelta(seconds=1))
    assert occurrence_id(job, AT) < moved <= occurrence_id(job, AT) + LAST_MOVED < following


def test_the_newest_run_of_an_occurrence_is_the_last_one_with_its_id_or_a_number_behind_it() -> None:
    own, other = occurrence_id("report", AT), occurrence_id("report", AT + timedelta(hours=1))
    assert run_among([f"{own}-1", f"{other}-2"], own) == f"{own}-1"
    assert run_among([f"{own}-1", own, other], own) == own
    assert run_among([other], own) == run_among([], own) == own


@pytest.mark.parametrize("given", ["", "report", "report-2027-03-01", "report-2027-13-01T08:00:00Z"])
def test_an_id_without_a_time_names_none(given: str) -> None:
    assert scheduled_time(given) is None
