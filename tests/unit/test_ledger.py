"""The ledger of a job: what is told of each occurrence, and why."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from activities.contract import CatchUpRequest, JobResult, NotRun
from schedules.ledger.facts import Job, Run
from schedules.ledger.occurrences import ledger
from schedules.ledger.reasons import Case, Reason, stamp, why_not
from schedules.ledger.timeline import Event, Timeline
from schedules.model import Interval, Times
from tests.unit.ledgers import MINUTE, NOON, TEN_MINUTES, job, run

HOUR = 60 * MINUTE
SECOND = timedelta(seconds=1)
TEN = 10 * MINUTE
NOW = NOON + HOUR


def timeline(*events: Event, wakes: tuple[datetime, ...] = ()) -> Timeline:
    """Of a schedule that was there long before, and whose scheduler looked every ten minutes."""
    first = Event(NOON - 24 * HOUR, "created", paused=False, times=TEN_MINUTES)
    looks = wakes or tuple(NOON + number * TEN + SECOND for number in range(-6, 12))
    return Timeline(first.at, (first, *events), looks)


def result(outcome: Any = "superseded", **fields: Any) -> JobResult:
    return JobResult(outcome, "", 0.0, 1.0, 0, **fields)


def account(first: datetime, last: datetime, reason: str = "superseded by a newer one") -> JobResult:
    return result("succeeded", not_run=NotRun(3, stamp(first), stamp(last), reason))


def reason(case_job: Job, runs: list[Run] | None = None, known: Timeline | None = None, at: datetime = NOON) -> Reason:
    return why_not(Case(at, case_job, runs or [], NOW, known))


PAUSED = Event(NOON - MINUTE, "paused", "deploy", "ann@host", paused=True)
RESUMED = Event(NOON + MINUTE, "unpaused", "done", "bob@host", paused=False)
CHANGED = Event(NOON + MINUTE, "updated", "", "sync@ci", paused=False, times=TEN_MINUTES)
OTHER = Event(
    NOON - 2 * HOUR, "updated", "", "sync@ci", paused=False, times=Times("UTC", intervals=(Interval(3600, 300),))
)
SILENT = (NOON - TEN, NOON + 5 * MINUTE)
"""The scheduler looked before the occurrence and then only five minutes after it."""

CASES: dict[str, tuple[Reason, str, bool, str]] = {
    "not due yet": (reason(job(), at=NOW + TEN), "not_yet_due", True, "due at 2027-03-01T13:10:00Z"),
    "no schedule": (reason(job(created_at=NOON + MINUTE)), "before_creation", True, "created at 2027-03-01T12:01:00Z"),
    "accounted for": (
        reason(job(), [run(NOON + TEN, result=account(NOON - TEN, NOON))]),
        "superseded",
        True,
        "superseded by a newer one",
    ),
    "accounted for under skip": (
        reason(job(catchup=CatchUpRequest("skip", "skip", 10, 60)), [run(NOON + TEN, result=account(NOON, NOON))]),
        "skipped",
        True,
        "superseded by a newer one",
    ),
    "accounted for beyond its deadline": (
        reason(
            job(catchup=CatchUpRequest("run_latest", "skip", 10, 60, start_deadline=300)),
            [run(NOON + TEN, result=account(NOON, NOON, "too late by 5m"))],
        ),
        "too_late",
        True,
        "too late by 5m",
    ),
    "paused": (reason(job(), known=timeline(PAUSED)), "paused", True, "since 2027-03-01T11:59:00Z by ann@host: deploy"),
    "paused for a while": (
        reason(job(), known=timeline(PAUSED, RESUMED)),
        "paused",
        True,
        "until 2027-03-01T12:01:00Z by bob@host",
    ),
    "paused, without a history": (
        reason(job(paused=True, note="holidays")),
        "paused",
        False,
        "probably paused: it is paused now, and nothing has run since: holidays",
    ),
    "paused now, and run since": (
        reason(job(paused=True), [run(NOON + TEN)]),
        "missed",
        False,
        "no reason was found",
    ),
    "another spec": (
        reason(job(), known=timeline(OTHER, CHANGED)),
        "not_due_then",
        True,
        "changed at 2027-03-01T12:01:00Z by sync@ci",
    ),
    "forgotten": (reason(job(retention=MINUTE)), "forgotten", False, "forgets what ended more than 1m ago"),
    "used up": (reason(job(remaining=0)), "used_up", True, "no remaining actions"),
    "overlap": (
        reason(job(), [run(NOON - TEN, 15 * MINUTE)]),
        "overlap_skipped",
        True,
        "relay-2027-03-01T11:50:00Z",
    ),
    "overlap with one that goes on": (
        reason(job(), [run(NOON - TEN, None)]),
        "overlap_skipped",
        True,
        "overlap is skip",
    ),
    "buffered": (
        reason(job(overlap="buffer_one", waiting=1), [run(NOON - TEN, None)]),
        "buffered",
        True,
        "wait for relay-2027-03-01T11:50:00Z to end",
    ),
    "none is buffered": (
        reason(job(overlap="buffer_one"), [run(NOON - TEN, None)]),
        "overlap_skipped",
        True,
        "overlap is buffer_one",
    ),
    "a run by hand holds nothing back": (
        reason(job(), [run(NOON - TEN, None, scheduled_by="")]),
        "missed",
        False,
        "no reason was found",
    ),
    "overlap is allowed": (
        reason(job(overlap="allow_all"), [run(NOON - TEN, None)]),
        "missed",
        False,
        "no reason was found",
    ),
    "beyond the window": (
        reason(job(window=60, dropped=4), known=timeline(wakes=SILENT)),
        "missed",
        True,
        "came back 5m later: longer than the catch-up window of 1m",
    ),
    "left out after an outage": (
        reason(job(window=3600), [run(NOON - TEN, late=15 * MINUTE)], timeline(wakes=SILENT)),
        "overlap_skipped",
        True,
        "it started relay-2027-03-01T11:50:00Z and left out the others",
    ),
    "the server is still away": (reason(job(), known=timeline(wakes=SILENT[:1])), "due", True, "not back yet"),
    "changed since, without a history": (
        reason(job(updated_at=NOON + MINUTE)),
        "missed",
        False,
        "the schedule was changed at 2027-03-01T12:01:00Z",
    ),
    "dropped, without a history": (
        reason(job(dropped=2)),
        "missed",
        False,
        "probably the server was away for longer than the catch-up window",
    ),
    "nothing to go by": (reason(job(), known=timeline()), "missed", False, "on time, and nothing was started"),
}


@pytest.mark.parametrize(("found", "verdict", "certain", "text"), CASES.values(), ids=CASES)
def test_the_reason_is_the_first_that_the_evidence_bears(found: Reason, verdict: str, certain: bool, text: str) -> None:
    assert (found.verdict, found.certain) == (verdict, certain)
    assert text in found.text


def test_what_is_due_for_a_few_seconds_may_still_come() -> None:
    assert why_not(Case(NOON, job(), [], NOON + 9 * SECOND)).verdict == "due"
    assert why_not(Case(NOON, job(), [], NOON + 11 * SECOND)).verdict == "missed"
    jittered = job(times=Times("UTC", intervals=(Interval(600),), jitter=30))
    assert why_not(Case(NOON, jittered, [], NOON + 39 * SECOND)).verdict == "due"


def test_each_time_and_each_run_of_the_span_is_told_once_oldest_first() -> None:
    by_hand = run(NOON + 3 * MINUTE, scheduled_by="")
    found = ledger(job(), [run(NOON + TEN), by_hand, run(NOON - TEN)], NOON, NOON + 2 * TEN, NOW)
    assert [(each.scheduled_at - NOON, each.verdict, each.expected, each.origin) for each in found] == [
        (0 * MINUTE, "missed", True, "none"),
        (3 * MINUTE, "succeeded", False, "by_hand"),
        (10 * MINUTE, "succeeded", True, "schedule"),
        (20 * MINUTE, "missed", True, "none"),
    ]


def test_of_several_runs_of_one_time_the_last_to_start_counts() -> None:
    first, again = run(NOON, status="failed"), run(NOON, late=HOUR)
    [found] = ledger(job(), [again, first], NOON, NOON, NOW)
    assert (found.verdict, found.run, found.others, found.origin) == ("succeeded", again, (first,), "backfill")


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (run(NOON), "succeeded"),
        (run(NOON, None), "running"),
        (run(NOON, None, waiting=True), "waiting"),
        (run(NOON, marked="too_late"), "too_late"),
        (run(NOON, status="failed"), "failed"),
        (run(NOON, status="failed", result=result("timed_out")), "timed_out"),
        (run(NOON, status="failed", result=result("compensation_failed")), "compensation_failed"),
        (run(NOON, marked="an outcome of a later release"), "succeeded"),
        (run(NOON, status="terminated"), "terminated"),
    ],
)
def test_the_outcome_of_a_run_is_its_own_word_or_else_temporals(given: Run, verdict: str) -> None:
    assert given.verdict == verdict


@pytest.mark.parametrize(
    ("given", "event", "origin"),
    [
        (run(NOON), None, "schedule"),
        (run(NOON, late=HOUR), None, "schedule"),
        (run(NOON, parent="relay-2027-03-01T11:50:00Z"), None, "late_run"),
        (run(NOON), Event(NOON + HOUR, "backfilled", span=(NOON, NOON)), "schedule"),
        (run(NOON, late=HOUR), Event(NOON + HOUR, "backfilled", span=(NOON, NOON)), "backfill"),
        (run(NOON + MINUTE), Event(NOON + MINUTE, "triggered", span=(NOON + MINUTE, NOON + MINUTE)), "trigger"),
        (run(NOON + MINUTE), None, "earlier_spec"),
        (run(NOON, scheduled_by=""), None, "by_hand"),
    ],
)
def test_who_started_a_run_is_told(given: Run, event: Event | None, origin: str) -> None:
    [found] = ledger(job(), [given], given.scheduled_at, given.scheduled_at, NOW, timeline(*([event] if event else [])))
    assert found.origin == origin


def test_a_history_that_does_not_reach_back_so_far_is_not_asked() -> None:
    late = Timeline(NOON + MINUTE, (Event(NOON + MINUTE, "known", paused=True, times=TEN_MINUTES),), (NOON + TEN,))
    assert reason(job(), known=late).verdict == "missed"
    assert not reason(job(), known=late).certain
