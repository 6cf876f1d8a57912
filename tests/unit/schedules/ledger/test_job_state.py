"""The state of a job in one line."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from activities.account.facts import Run
from activities.account.record import Event
from schedules.ledger.facts import Job
from schedules.ledger.notices.sent import Sent
from schedules.ledger.occurrences import ledger
from schedules.ledger.replaced import may_be_replaced, replaced
from schedules.ledger.state import JobState, OpenIncident, state_of
from schedules.monitor.figures import figures_of
from schedules.views.status import state_json, state_row
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, job, run

TEN = 10 * MINUTE
NOW = NOON + MINUTE
SINCE = NOON - 3 * TEN


def state(given: Job, runs: list[Run], pause: Event | None = None) -> JobState:
    return state_of(given, ledger(given, runs, SINCE, NOW, NOW), runs, NOW, since=SINCE, pause=pause)


def all_four(*last: Run, **fields: Any) -> list[Run]:
    """Runs of the four times of the span, of which the newest are given."""
    kept = [run(NOON - number * TEN, **fields) for number in (3, 2, 1, 0)]
    return [*kept[: 4 - len(last)], *last]


@pytest.mark.parametrize(
    ("given", "runs", "expected"),
    [
        (job(), all_four(), "ok"),
        (job(), [], "late"),
        (job(created_at=NOW), [], "never_ran"),
        (job(), all_four(run(NOON, None)), "running"),
        (job(), all_four(run(NOON, status="failed")), "failing"),
        (job(), all_four(run(NOON, status="terminated")), "failing"),
        (job(), all_four(run(NOON - TEN, status="failed"), run(NOON, marked="superseded")), "failing"),
        (job(), all_four(run(NOON - TEN, status="failed"), run(NOON, status="cancelled")), "failing"),
        (job(), all_four(run(NOON - TEN, status="failed"), run(NOON)), "ok"),
        (job(), all_four()[:3], "late"),
        (job(), all_four()[1:], "ok"),
        (job(), all_four(run(NOON, None, waiting=True)), "late"),
        (job(paused=True), all_four(run(NOON, status="failed")), "paused"),
        (job(recent=("relay-2027-03-01T12:00:00Z",)), [], "unknown"),
    ],
)
def test_the_state_is_what_must_be_looked_at_first(given: Job, runs: list[Run], expected: str) -> None:
    assert state(given, runs).state == expected


def test_a_start_that_is_due_for_a_few_seconds_is_not_late() -> None:
    runs, soon = all_four()[:3], NOON + timedelta(seconds=5)
    occurrences = ledger(job(), runs, SINCE, soon, soon)
    assert occurrences[-1].verdict == "due"
    assert state_of(job(), occurrences, runs, soon, since=SINCE).state == "ok"


def test_failures_are_counted_from_the_newest_back_to_the_last_success() -> None:
    runs = [
        run(NOON - 3 * TEN, status="failed"),
        run(NOON - 2 * TEN),
        run(NOON - TEN, status="failed"),
        run(NOON - 5 * MINUTE, status="cancelled"),
        run(NOON, status="timed_out"),
    ]
    assert state(job(), runs).failures == 2


def test_missed_and_skipped_are_counted_apart_and_not_at_all_where_times_are_not_known() -> None:
    runs = [run(NOON - 3 * TEN, 15 * MINUTE), run(NOON)]
    found = state(job(), runs)
    assert (found.missed, found.skipped) == (1, 1)
    assert (state(job(exact=False), runs).missed, state(job(exact=False), runs).skipped) == (None, None)


def test_a_run_that_waits_is_as_late_as_it_waits() -> None:
    found = state(job(), all_four(run(NOON, None, waiting=True, task_queue="batch")))
    row = state_row(found, NOW)
    assert (row["lateness"], row["running"]) == ("1m00s", "1m00s (waiting)")
    assert row["why"] == "2027-03-01T12:00:00Z: no worker has taken it: it waits in task queue `batch`"


def test_who_paused_it_and_why_is_told() -> None:
    pause = Event(NOON, "paused", "deploy", "ann@host", paused=True)
    found = state(job(paused=True, note="deploy"), all_four(), pause)
    assert found.why == "since 2027-03-01T12:00:00Z by ann@host: deploy"
    assert state_json(found)["paused_by"] == "ann@host"
    assert state_row(found, NOW)["next"] == ""


def test_times_in_a_row_are_those_of_the_jobs_zone() -> None:
    found = state(job(next_times=(NOON + TEN,)), all_four())
    row = state_row(found, NOW)
    assert (row["next"], row["last"]) == ("2027-03-01 13:10 +01:00", "2027-03-01 13:00 +01:00")
    assert state_json(found)["next"] == "2027-03-01T12:10:00Z"
    assert state_json(found)["last"]["lateness"] == 0.0
    assert timedelta(seconds=state_json(found)["last"]["duration"]) == MINUTE


def test_with_jitter_the_next_time_is_the_scheduled_one_and_by_how_much_later_it_may_start() -> None:
    """The server tells the next starts with their jitter, for this job hours after the times themselves."""
    spread = replace(job().times, jitter=12 * 3_600)
    found = state(job(times=spread, next_times=(NOON + TEN * 30,)), all_four())
    assert state_row(found, NOW)["next"] == "2027-03-01 13:10 +01:00 (up to +12h)"
    assert (state_json(found)["next"], state_json(found)["jitter"]) == ("2027-03-01T12:10:00Z", 43_200)
    assert state_json(state(job(next_times=(NOON + TEN,)), all_four()))["jitter"] == 0


DELIVERED = Sent("failure", "ops", "delivered", NOON, 1, "w", "r", 5)
REFUSED = Sent("failure", "hook", "under_way", NOON, 6, "w", "r", 6, error="no secret")
BOTH = (
    "failure to channel ops: delivered at 2027-03-01T12:00:00Z, 1 attempt; "
    "failure to channel hook: not delivered yet, 6 attempts since 2027-03-01T12:00:00Z: no secret"
)


@pytest.mark.parametrize(
    ("incident", "said"),
    [
        (OpenIncident("T", 1, ("ops", "hook")), "failed; incident open since T; channels ops, hook"),
        (
            OpenIncident("T", 1, ("ops",), sent=()),
            "failed; incident open since T; channels ops: no notice was sent yet",
        ),
        (OpenIncident("T", 3, ("ops",)), "failed; incident open since T; channels ops: notice from failure 3 on"),
        (OpenIncident("T", 1, ()), "failed; incident open since T; no channels"),
        (OpenIncident("T"), "failed; incident open since T; its channels are not known here"),
        (
            OpenIncident("T", 1, ("ops", "hook"), sent=(DELIVERED, REFUSED)),
            "failed; incident open since T; " + BOTH,
        ),
    ],
)
def test_an_open_incident_stands_behind_the_reason(incident: OpenIncident, said: str) -> None:
    failing = replace(state(job(), all_four(run(NOON, status="failed"))), incident=incident)
    assert state_row(failing, NOW)["why"] == said


def test_of_a_job_whose_last_runs_are_not_kept_nothing_is_claimed() -> None:
    """It failed twice, and the namespace forgot: nobody knows whether it works."""
    found = state(job(recent=("relay-2027-03-01T11:50:00Z", "relay-2027-03-01T12:00:00Z")), [])
    assert found.why == "relay-2027-03-01T12:00:00Z was its last start; the namespace no longer keeps how it ended"
    known = job(recent=("relay-2027-03-01T12:00:00Z",))
    for runs, failures in (([], None), ([run(NOON, None)], 0), ([run(NOON, status="failed")], 1)):
        assert figures_of(known, state(known, runs), runs, SINCE, NOW).failures == failures


def test_a_run_ended_by_its_own_overlap_policy_does_not_make_a_job_fail() -> None:
    runs = all_four(run(NOON - TEN, TEN, status="terminated"), run(NOON, None))
    assert state(job(), runs).failures == 1
    known = job(overlap="terminate_other")
    assert state(known, replaced(known, runs)).failures == 0
    assert may_be_replaced(runs)
    assert not may_be_replaced(all_four(run(NOON - TEN, MINUTE, status="terminated"), run(NOON, None)))
