"""What kept a run waiting, in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from activities.account.facts import Run
from activities.account.why_late import why_late
from activities.contract import CatchUpRequest
from schedules.ledger.facts import Job
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, TEN_MINUTES, job, run

SECOND = timedelta(seconds=1)


def of(overlap: Any = "buffer_all", late_after: float = 60.0, jitter: int = 0) -> Job:
    """A job of every ten minutes."""
    rule = CatchUpRequest("run_latest", overlap, late_after + jitter, 3600.0, jitter=float(jitter))
    return job(overlap=overlap, catchup=rule, times=replace(TEN_MINUTES, jitter=jitter))


def late(its: Run, *others: Run, job: Job | None = None, taken_after: timedelta = SECOND) -> tuple[str, ...]:
    return why_late(its, [*others, its], job or of(), its.started_at + taken_after, by_schedule=True)


def test_a_run_on_time_was_kept_by_nothing() -> None:
    assert late(run(NOON)) == ()


def test_a_run_that_waited_for_its_turn_names_the_run_before() -> None:
    before = run(NOON - 10 * MINUTE, took=13 * MINUTE)

    assert late(run(NOON, late=3 * MINUTE), before) == (
        f"it waited until {before.id} had ended, at 2027-03-01T12:03:00Z",
    )


@pytest.mark.parametrize("overlap", ["skip", "allow_all", "terminate_other"])
def test_a_run_waits_for_another_only_where_its_overlap_policy_makes_it(overlap: Any) -> None:
    before = run(NOON - 10 * MINUTE, took=13 * MINUTE)

    waited = "it waited until" in "".join(late(run(NOON, late=3 * MINUTE), before, job=of(overlap)))
    assert waited == (overlap == "terminate_other")


def test_what_came_on_top_of_the_wait_is_the_servers() -> None:
    before = run(NOON - 10 * MINUTE, took=11 * MINUTE)

    assert late(run(NOON, late=3 * MINUTE), before) == (
        f"it waited until {before.id} had ended, at 2027-03-01T12:01:00Z",
        "the server started it 2m after that: it was away or busy when it was due",
    )


def test_a_run_that_had_ended_before_was_not_waited_for() -> None:
    before = run(NOON - 10 * MINUTE, took=10 * MINUTE)

    assert late(run(NOON, late=3 * MINUTE), before) == (
        "the server started it 3m late: it was away or busy when it was due",
    )


@pytest.mark.parametrize(("late_after", "seconds", "count"), [(60.0, 55, 0), (60.0, 65, 1), (2.0, 1.5, 0), (2.0, 5, 1)])
def test_on_time_is_what_the_job_calls_so(late_after: float, seconds: float, count: int) -> None:
    its, given = run(NOON, late=seconds * SECOND), of(late_after=late_after)
    assert len(late(its, job=given)) == count
    assert len(late(run(NOON), job=given, taken_after=seconds * SECOND)) == count


def test_jitter_is_no_fault_of_the_server() -> None:
    its = run(NOON, late=3 * MINUTE)
    assert late(its, job=of(jitter=300)) == ("it was held back by the job's jitter of up to 5m",)


def test_a_run_that_no_worker_took_says_so() -> None:
    its = run(NOON, task_queue="reports")

    assert late(its, taken_after=5 * MINUTE) == (
        "no worker of task queue `reports` took it for 5m: they were away or busy",
    )


def test_what_was_asked_for_later_is_not_late() -> None:
    its = run(NOON, late=60 * MINUTE)

    assert why_late(its, [its], of(), None, by_schedule=False) == ()
