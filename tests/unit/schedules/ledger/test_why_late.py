"""What kept a run waiting, in words."""

from __future__ import annotations

from datetime import timedelta

from activities.account.facts import Run
from activities.account.why_late import why_late
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, run

SECOND = timedelta(seconds=1)


def late(its: Run, *others: Run, jitter: timedelta = SECOND, taken_after: timedelta = SECOND) -> tuple[str, ...]:
    return why_late(its, [*others, its], jitter, its.started_at + taken_after, by_schedule=True)


def test_a_run_on_time_was_kept_by_nothing() -> None:
    assert late(run(NOON)) == ()


def test_a_run_that_waited_for_its_turn_names_the_run_before() -> None:
    before = run(NOON - 10 * MINUTE, took=13 * MINUTE)

    assert late(run(NOON, late=3 * MINUTE), before) == (
        f"it waited until {before.id} had ended, at 2027-03-01T12:03:00Z",
    )


def test_a_run_that_began_long_after_the_one_before_had_ended_did_not_wait_for_it() -> None:
    before = run(NOON - 10 * MINUTE, took=11 * MINUTE)

    assert late(run(NOON, late=3 * MINUTE), before) == (
        "the server started it 3m late: it was away or busy when it was due",
    )


def test_jitter_is_no_fault_of_the_server() -> None:
    assert late(run(NOON, late=3 * MINUTE), jitter=5 * MINUTE) == ("it was held back by the job's jitter of up to 5m",)


def test_a_run_that_no_worker_took_says_so() -> None:
    its = run(NOON, task_queue="reports")

    assert late(its, taken_after=5 * MINUTE) == (
        "no worker of task queue `reports` took it for 5m: they were away or busy",
    )


def test_what_was_asked_for_later_is_not_late() -> None:
    its = run(NOON, late=60 * MINUTE)

    assert why_late(its, [its], SECOND, None, by_schedule=False) == ()
