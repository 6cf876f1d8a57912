"""A workflow that a schedule starts itself may be several runs under one id, which are one to everybody who asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from activities.account.facts import Run, Status
from activities.contract import JOB_WORKFLOW
from schedules.ledger.chains import chained
from schedules.ledger.occurrences import ledger
from schedules.ledger.state import state_of
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, job, run

DIRECT = job(workflow_type="Approval")


def chain(*ends: Status) -> list[Run]:
    """Runs of noon, each begun when the one before ended."""
    return [
        run(NOON, late=number * MINUTE, status=end, **({"took": None} if end == "running" else {}))
        for number, end in enumerate(ends)
    ]


@pytest.mark.parametrize("end", ["failed", "timed_out", "continued"])
def test_what_the_server_begins_anew_is_one_run(end: Status) -> None:
    first, last = chain(end, "completed")
    assert chained(DIRECT, [last, first]) == [replace(last, started_at=NOON, links=2)]


def test_while_it_is_retried_the_job_does_not_fail_yet() -> None:
    runs, now = chained(DIRECT, chain("failed", "failed", "running")), NOON + 3 * MINUTE
    state = state_of(DIRECT, ledger(DIRECT, runs, NOON, now, now), runs, now, since=NOON)
    assert (state.state, state.failures) == ("running", 0)


def test_after_the_last_retry_it_has_failed_once() -> None:
    runs, now = chained(DIRECT, chain("failed", "failed", "failed")), NOON + 3 * MINUTE
    [occurrence] = ledger(DIRECT, runs, NOON, now, now)
    state = state_of(DIRECT, [occurrence], runs, now, since=NOON)
    assert (state.state, state.failures, occurrence.origin) == ("failing", 1, "schedule")


def test_what_somebody_starts_again_later_is_a_run_of_its_own() -> None:
    first = run(NOON, status="failed")
    again = run(NOON, late=MINUTE + timedelta(seconds=2))
    assert chained(DIRECT, [first, again]) == [first, again]


def test_a_success_is_followed_by_no_link() -> None:
    runs = chain("completed", "completed")
    assert chained(DIRECT, runs) == runs


def test_runs_of_the_jobs_own_workflow_stay_apart() -> None:
    runs = chain("failed", "completed")
    assert chained(job(workflow_type=JOB_WORKFLOW), runs) == runs
