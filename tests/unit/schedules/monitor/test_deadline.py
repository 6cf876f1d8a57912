"""By when a job should have come to an end."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from activities.account.facts import Run
from activities.contract import JobResult
from schedules.ledger.facts import Job
from schedules.ledger.occurrences import ledger
from schedules.model import Interval, Times
from schedules.monitor.deadline import expected_by, overdue, unsure, usual_duration
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, job, run

TEN, NONE = 10 * MINUTE, timedelta(0)
SINCE = NOON - 3 * TEN
BEFORE = [run(NOON - number * TEN) for number in (3, 2, 1)]
"""Each took a minute, so that two are allowed."""


def deadline(runs: list[Run], given: Job | None = None, now: datetime = NOON + 5 * MINUTE) -> datetime | None:
    known = given or job()
    return expected_by(known, ledger(known, runs, SINCE, now, now), runs, now)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ([run(NOON)], None),
        ([run(NOON, status="failed")], None),
        ([run(NOON, marked="too_late")], None),
        ([], NOON + 2 * MINUTE),
        ([run(NOON, None)], NOON + 2 * MINUTE),
        ([run(NOON, None, waiting=True)], NOON + 2 * MINUTE),
    ],
    ids=["succeeded", "failed", "too late", "missed", "goes on", "waits for a worker"],
)
def test_it_is_the_scheduled_time_and_twice_the_longest_success(last: list[Run], expected: datetime | None) -> None:
    assert deadline([*BEFORE, *last]) == expected


def test_of_several_the_oldest_counts_unless_a_later_one_has_ended() -> None:
    two_missing = BEFORE[:2]
    assert deadline(two_missing) == NOON - TEN + 2 * MINUTE
    assert deadline([*two_missing, run(NOON)]) is None


def test_a_run_that_goes_on_of_which_nothing_says_how_long_it_may_take_is_not_overdue() -> None:
    """A workflow that the schedule starts itself, the first time."""
    assert deadline([run(NOON, None)], job(created_at=NOON - MINUTE)) is None


def test_a_run_that_goes_on_without_any_success_has_its_limit() -> None:
    limited = job(limit=timedelta(hours=1), created_at=NOON - MINUTE)
    assert deadline([run(NOON, None)], limited) == NOON + timedelta(hours=1)


def test_jitter_is_added() -> None:
    jittered = job(times=Times("UTC", intervals=(Interval(600),), jitter=120), created_at=NOON - MINUTE)
    assert deadline([], jittered) == NOON + 2 * MINUTE


def test_a_pause_ends_the_waiting_for_a_run_that_goes_on() -> None:
    assert deadline([*BEFORE, run(NOON, None)], job(paused=True)) is None


YEARLY = job(created_at=NOON - timedelta(days=400), retention=timedelta(hours=23))
NEXT_DAY = NOON + timedelta(days=1)


def test_a_time_that_may_have_run_so_long_ago_that_nothing_is_kept_is_not_waited_for() -> None:
    """Of a job with one run a year and a week of retention nothing but the schedule's own list is known by the end of the year."""
    for started in (NOON, NOON + TEN):
        known = replace(YEARLY, recent=(f"relay-{started:%Y-%m-%dT%H:%M:%SZ}",))
        occurrences = ledger(known, [], NOON, NOON, NEXT_DAY)
        assert [each.verdict for each in occurrences] == ["forgotten"]
        assert expected_by(known, occurrences, [], NEXT_DAY) is None


def test_a_time_that_the_schedule_has_not_started_is_waited_for_however_long_ago_it_was() -> None:
    for recent in ((), ("relay-2026-03-01T12:00:00Z",)):
        known = replace(YEARLY, recent=recent)
        assert expected_by(known, ledger(known, [], NOON, NOON, NEXT_DAY), [], NEXT_DAY) == NOON


def test_one_success_that_waited_for_a_worker_allows_no_more_than_the_others() -> None:
    """Of 20 daily runs one waited for ten hours; what was read of ends is believed."""
    ten_hours = timedelta(hours=10)
    daily = [run(NOON - number * TEN) for number in range(1, 6)]
    waited = run(NOON - 100 * TEN, ten_hours)
    assert unsure([waited, *daily]) == [waited]
    assert deadline([waited, *daily]) == NOON + 2 * MINUTE
    told = replace(waited, result=JobResult("succeeded", "", 35_940.0, 60.0, 1))
    assert unsure([told, *daily]) == []
    assert deadline([told, *daily]) == NOON + 2 * MINUTE
    long = replace(waited, result=JobResult("succeeded", "", 0.0, 3600.0, 1))
    assert deadline([long, *daily]) == NOON + 2 * timedelta(hours=1)


@pytest.mark.parametrize("given", [job(paused=True), job(created_at=NOON + MINUTE), job(remaining=0)])
def test_nothing_is_expected_of_a_job_that_is_not_to_run(given: Any) -> None:
    assert deadline([], given) is None


def test_a_time_left_out_by_overlap_is_not_waited_for_but_its_run_is() -> None:
    long = run(NOON - TEN, None)
    assert deadline([*BEFORE[:2], long]) == NOON - TEN + 2 * MINUTE


def test_overdue_is_never_less_than_nothing() -> None:
    assert overdue(None, NOON) == NONE
    assert overdue(NOON, NOON - MINUTE) == NONE
    assert overdue(NOON, NOON + MINUTE) == MINUTE


def test_usual_is_the_median_of_three_successes_or_more() -> None:
    spans = [run(NOON - 4 * TEN), run(NOON - 3 * TEN, 5 * MINUTE), run(NOON, 9 * MINUTE)]
    assert usual_duration(spans) == 5 * MINUTE
    assert usual_duration([*spans[:2], run(NOON, 9 * MINUTE, status="failed")]) is None
