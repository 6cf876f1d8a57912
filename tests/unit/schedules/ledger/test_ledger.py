"""The ledger of a job: what is told of each occurrence, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from activities.account.facts import Run
from activities.account.record import Event, SchedulerRecord
from activities.account.verdict import Case, Reason, why_not
from activities.contract import CatchUpRequest, JobResult, NotRun
from activities.occurrence import stamp
from schedules.ledger.facts import Job
from schedules.ledger.occurrences import ledger
from schedules.model import Interval, Times
from schedules.notes import resume_note
from schedules.server.translate_times import to_spec
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, TEN_MINUTES, job, run

HOUR = 60 * MINUTE
SECOND = timedelta(seconds=1)
FOREVER = datetime.max.replace(tzinfo=UTC)
TEN = 10 * MINUTE
NOW = NOON + HOUR


def timeline(*events: Event, wakes: tuple[datetime, ...] = ()) -> SchedulerRecord:
    """Of a schedule that was there long before, and whose scheduler looked every ten minutes."""
    first = Event(NOON - 24 * HOUR, "created", paused=False, spec=to_spec(TEN_MINUTES))
    looks = wakes or tuple(NOON + number * TEN + SECOND for number in range(-6, 12))
    return SchedulerRecord(((first.at, FOREVER),), (first, *events), looks, looks, FOREVER)


def result(outcome: Any = "superseded", **fields: Any) -> JobResult:
    return JobResult(outcome, "", 0.0, 1.0, 0, **fields)


def account(first: datetime, last: datetime, reason: str = "superseded by a newer one") -> JobResult:
    return result("succeeded", not_run=NotRun(3, stamp(first), stamp(last), reason))


def reason(
    case_job: Job, runs: list[Run] | None = None, known: SchedulerRecord | None = None, at: datetime = NOON
) -> Reason:
    return why_not(Case(at, case_job, runs or [], NOW, known))


PAUSED = Event(NOON - MINUTE, "paused", "deploy", "ann@host", paused=True)
RESUMED = Event(NOON + MINUTE, "unpaused", "done", "bob@host", paused=False)
CHANGED = Event(NOON + MINUTE, "updated", "", "sync@ci", paused=False, spec=to_spec(TEN_MINUTES))
OTHER = Event(
    NOON - 2 * HOUR,
    "updated",
    "",
    "sync@ci",
    paused=False,
    spec=to_spec(Times("UTC", intervals=(Interval(3600, 300),))),
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
    "away for as long as makes a start late": (
        reason(
            job(catchup=CatchUpRequest("skip", "skip", 1.5, 60)), known=timeline(wakes=(NOON - TEN, NOON + 7 * SECOND))
        ),
        "skipped",
        True,
        "the server was away when it was due, and catchup is skip",
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
    "forgotten": (
        reason(job(retention=MINUTE)),
        "forgotten",
        False,
        "the namespace keeps nothing that ended more than 1m ago",
    ),
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
        "it waits for relay-2027-03-01T11:50:00Z to end",
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
        "came back 5m later, after the catch-up window of 1m",
    ),
    "left out after an outage": (
        reason(job(window=3600), [run(NOON - TEN, late=15 * MINUTE)], timeline(wakes=SILENT)),
        "overlap_skipped",
        True,
        "it started relay-2027-03-01T11:50:00Z and left out the others",
    ),
    "the server is still away": (reason(job(), known=timeline(wakes=SILENT[:1])), "due", True, "not back yet"),
    "the server is just back": (
        reason(job(), known=timeline(wakes=(NOON - TEN, NOW - 5 * SECOND))),
        "due",
        True,
        "came back at 2027-03-01T12:59:55Z; it may start at any moment",
    ),
    "the server has been back for a while": (
        reason(job(), known=timeline(wakes=(NOON - TEN, NOW - 11 * SECOND))),
        "missed",
        True,
        "came back 59m 49s later",
    ),
    "the server is just back, beyond the window": (
        reason(job(window=60), known=timeline(wakes=(NOON - TEN, NOW - 5 * SECOND))),
        "missed",
        True,
        "after the catch-up window of 1m",
    ),
    "changed since, without a history": (
        reason(job(updated_at=NOON + MINUTE)),
        "unknown",
        False,
        "what the schedule was before 2027-03-01T12:01:00Z is not known",
    ),
    "dropped, without a history": (
        reason(job(dropped=2)),
        "missed",
        False,
        "probably the server was away for longer than the catch-up window",
    ),
    "nothing to go by": (reason(job(), known=timeline()), "missed", False, "on time, and nothing was started"),
}


DAY = 24 * HOUR
CREATED = NOON + 30 * MINUTE
UNTIL = "paused by ann@host at 2027-03-01T11:00:00Z: deploy (until 2027-03-01T13:15:00Z)"
CASES |= {
    "the first of a new schedule": (
        reason(job(created_at=NOW), at=NOW + TEN),
        "not_yet_due",
        True,
        "nothing was due yet: the schedule was created at",
    ),
    "within a pause that goes on": (
        reason(job(paused=True, note=UNTIL), at=NOW + TEN),
        "not_yet_due",
        True,
        "will not start: the schedule is paused until 2027-03-01T13:15:00Z",
    ),
    "after a pause that ends before": (
        reason(job(paused=True, note=UNTIL), at=NOW + 2 * TEN),
        "not_yet_due",
        True,
        "it is due at 2027-03-01T13:20:00Z",
    ),
    "of a schedule that is gone": (
        reason(job(deleted_at=NOON - MINUTE)),
        "not_due_then",
        True,
        "deleted; its scheduler was last at work at 2027-03-01T11:59:00Z",
    ),
    "when the schedule was last at work before it was deleted": (
        reason(job(deleted_at=NOON)),
        "missed",
        False,
        "no reason was found",
    ),
    "decided by a late run of a schedule that was deleted since": (
        reason(job(created_at=CREATED), [run(NOON + TEN, result=account(NOON - TEN, NOON))]),
        "superseded",
        True,
        "superseded by a newer one",
    ),
    "of a schedule that was deleted since": (
        reason(job(created_at=CREATED), [run(NOON - TEN), run(NOON + TEN)]),
        "before_creation",
        False,
        "created at 2027-03-01T12:30:00Z; an earlier schedule of this name, deleted since, started nothing then",
    ),
    "paused in a schedule that was deleted since": (
        reason(job(created_at=CREATED), [run(NOON - TEN)], timeline(PAUSED)),
        "paused",
        True,
        "by ann@host: deploy",
    ),
    "before the schedule, and older than what is kept": (
        reason(job(created_at=CREATED, retention=MINUTE)),
        "before_creation",
        False,
        "what was before is not known",
    ),
    "started, and deleted since": (
        reason(job(created_at=NOON - DAY, recent=("relay-2027-03-01T12:00:00Z",))),
        "forgotten",
        False,
        "the schedule started it",
    ),
    "nothing started since, by the schedule's own list": (
        reason(job(created_at=NOON - DAY, retention=MINUTE, recent=("relay-2027-03-01T11:50:00Z",))),
        "missed",
        False,
        "no reason was found",
    ),
    "something started since": (
        reason(job(created_at=NOON - DAY, retention=MINUTE, recent=("relay-2027-03-01T12:10:00Z",))),
        "forgotten",
        False,
        "the namespace keeps nothing that ended more than 1m ago",
    ),
    "the scheduler's history is kept for longer": (
        reason(job(retention=MINUTE, recent=("relay-2027-03-01T12:10:00Z",)), known=timeline(PAUSED)),
        "paused",
        True,
        "by ann@host: deploy",
    ),
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
        (run(NOON, asked_by_hand=True), None, "backfill"),
        (run(NOON + MINUTE, asked_by_hand=True), None, "trigger"),
    ],
)
def test_who_started_a_run_is_told(given: Run, event: Event | None, origin: str) -> None:
    [found] = ledger(job(), [given], given.scheduled_at, given.scheduled_at, NOW, timeline(*([event] if event else [])))
    assert found.origin == origin


def test_a_history_that_does_not_reach_back_so_far_is_not_asked() -> None:
    known = Event(NOON + MINUTE, "known", paused=True, spec=to_spec(TEN_MINUTES))
    late = SchedulerRecord(((NOON + MINUTE, FOREVER),), (known,), (NOON + TEN,), (NOON + TEN,), FOREVER)
    assert reason(job(), known=late).verdict == "unknown"


def verdicts(given: Job, runs: list[Run], now: datetime) -> list[tuple[str, bool]]:
    """Of 12:00 to the time before now, without those that have a run."""
    found = ledger(given, runs, NOON, now, now)
    return [(each.verdict, each.certain) for each in found if each.run is None]


def test_every_start_in_a_queue_waits_although_the_run_that_it_met_has_ended() -> None:
    """Each run takes 25 minutes: 12:00 to 12:25, 12:10 to 12:50, 12:20 since."""
    runs = [run(NOON, 25 * MINUTE), run(NOON + TEN, 25 * MINUTE, 15 * MINUTE), run(NOON + 2 * TEN, None, 30 * MINUTE)]
    now = NOON + 55 * MINUTE
    assert verdicts(job(overlap="buffer_all", waiting=3), runs, now) == [("buffered", True)] * 3
    assert verdicts(job(overlap="buffer_all", waiting=2), runs, now) == [("buffered", False)] * 3


def test_a_queue_that_gave_a_start_up_has_missed_it_and_left_nothing_out() -> None:
    runs = [run(NOON, 25 * MINUTE), run(NOON + 2 * TEN, 25 * MINUTE, 5 * MINUTE)]
    [(verdict, certain)] = verdicts(job(overlap="buffer_all"), runs, NOON + 29 * MINUTE)
    assert (verdict, certain) == ("missed", False)


def test_of_one_place_in_the_queue_the_first_start_since_the_last_one_has_it() -> None:
    """12:10 waited from 12:10 to 12:25 and runs; 12:20 met a full queue, 12:30 waits, and 12:40 meets it again."""
    runs = [run(NOON, 25 * MINUTE), run(NOON + TEN, None, 15 * MINUTE)]
    found = verdicts(job(overlap="buffer_one", waiting=1), runs, NOON + 45 * MINUTE)
    assert found == [("overlap_skipped", True), ("buffered", True), ("overlap_skipped", True)]


def test_after_an_outage_the_second_oldest_has_the_place() -> None:
    """The server was back at 12:35 and started 12:00."""
    runs = [run(NOON - TEN), run(NOON, None, 35 * MINUTE)]
    found = verdicts(job(overlap="buffer_one", waiting=1), runs, NOON + 45 * MINUTE)
    assert found == [("buffered", True), *[("missed", False)] * 2, ("overlap_skipped", True)]


def test_what_was_asked_for_by_hand_may_be_what_waits() -> None:
    """A backfill of 12:10 waits while 12:20 runs."""
    runs = [run(NOON), run(NOON + 2 * TEN, None)]
    for overlap in ("buffer_one", "buffer_all"):
        assert verdicts(job(overlap=overlap, waiting=1), runs, NOON + 25 * MINUTE) == [("buffered", False)]


def test_a_run_that_its_own_overlap_policy_has_terminated_did_not_fail() -> None:
    ended = run(NOON, TEN, status="terminated")
    newer = run(NOON + TEN, None)
    by_hand = run(NOON + TEN, 5 * MINUTE, status="terminated")
    for overlap, verdict in (("terminate_other", "cancelled"), ("buffer_all", "terminated"), (None, "terminated")):
        [first, _] = ledger(job(overlap=overlap), [ended, newer], NOON, NOON + TEN, NOON + 11 * MINUTE)
        assert first.verdict == verdict
    [found] = ledger(job(overlap="terminate_other"), [by_hand], NOON + TEN, NOON + TEN, NOW)
    assert found.verdict == "terminated"


def test_a_run_took_as_long_as_a_worker_had_it() -> None:
    waited = run(NOON, 43 * SECOND, result=JobResult("succeeded", "", 42.6, 0.4, 1))
    assert waited.duration == timedelta(seconds=0.4)
    assert run(NOON, 43 * SECOND).duration == 43 * SECOND


def test_a_start_that_was_replaced_while_it_waited_was_left_out_and_is_not_missed() -> None:
    """12:00 was at work until 12:25, when its cancellation had ended it; the newest of those that came meanwhile ran."""
    runs = [run(NOON, 25 * MINUTE, status="cancelled"), run(NOON + 2 * TEN, 2 * MINUTE, 5 * MINUTE)]
    [found] = [each for each in ledger(job(overlap="cancel_other"), runs, NOON, NOON + 2 * TEN, NOW) if not each.run]
    assert (found.scheduled_at, found.verdict, found.certain) == (NOON + TEN, "overlap_skipped", True)
    assert "until 2027-03-01T12:20:00Z took its place; overlap is cancel_other" in found.reason


def test_a_start_is_replaced_by_one_that_runs() -> None:
    """12:00 was at work until 12:25, and nothing ran of what came meanwhile: something else has dropped it all."""
    runs = [run(NOON, 25 * MINUTE, status="cancelled"), run(NOON + 3 * TEN, 2 * MINUTE)]
    found = [each.verdict for each in ledger(job(overlap="cancel_other"), runs, NOON, NOON + 2 * TEN, NOW)]
    assert found == ["cancelled", "missed", "missed"]


@pytest.mark.parametrize(
    ("ended", "known", "verdict"),
    [
        (5, timeline(), "overlap_skipped"),  # The scheduler looked at 12:20:01, and heard of the end then.
        (5, None, "missed"),
        (0.5, None, "overlap_skipped"),
        (5, timeline(wakes=(NOON, NOON + TEN, NOON + 2 * TEN - 2 * SECOND)), "missed"),
    ],
)
def test_a_start_is_replaced_until_the_schedule_has_heard_of_the_end(
    ended: float, known: SchedulerRecord | None, verdict: str
) -> None:
    """12:00 ended some seconds before 12:20, which ran instead of 12:10."""
    runs = [run(NOON, 2 * TEN - ended * SECOND, status="cancelled"), run(NOON + 2 * TEN, MINUTE, 2 * SECOND)]
    assert reason(job(overlap="cancel_other"), runs, known, NOON + TEN).verdict == verdict


def test_what_catching_up_superseded_is_not_missed_though_the_window_was_over() -> None:
    """The server looked again at 12:45; the window of a job that wants the newest holds ten minutes."""
    away = timeline(wakes=(NOON - MINUTE, NOON + 45 * MINUTE))
    caught_up = [run(NOON + 4 * TEN, MINUTE, 5 * MINUTE)]
    for overlap in ("allow_all", "buffer_all"):
        for policy, verdict in (("run_latest", "superseded"), ("skip", "skipped")):
            rule = CatchUpRequest(policy, overlap, 60.0, 610.0)  # type: ignore[arg-type]  # a table's text
            given = job(overlap=overlap, window=610, catchup=rule)
            assert reason(given, caught_up, away).verdict == verdict
        rule = CatchUpRequest("run_latest", overlap, 60.0, 610.0)
        assert reason(job(overlap=overlap, window=610, catchup=rule), [], away).verdict == "missed"


def test_with_jitter_a_run_holds_back_what_came_while_it_was_at_work_and_nothing_else() -> None:
    """12:00 may come up to twelve hours later; the run of 11:50 was at work until 13:00."""
    given = job(times=Times("UTC", intervals=(Interval(600),), jitter=12 * 3600))
    runs = [run(NOON - TEN, HOUR)]
    found = {
        late: why_not(Case(NOON, given, runs, NOW + 24 * HOUR, None, {NOON: NOON + late * MINUTE} if late else {}))
        for late in (0, 5, 90)
    }
    assert {late: each.verdict for late, each in found.items()} == {0: "missed", 5: "overlap_skipped", 90: "missed"}


def test_what_the_v2_scheduler_cannot_tell_is_not_known() -> None:
    """It was last written to at 12:30, and was resumed or changed then, or asked for something."""
    known = SchedulerRecord(((NOON + 3 * TEN, FOREVER),), (Event(NOON + 3 * TEN, "known", paused=False),))
    given = job(updated_at=NOON + 3 * TEN)
    assert reason(given, known=known).verdict == "unknown"
    assert "what the schedule was before 2027-03-01T12:30:00Z is not known" in reason(given, known=known).text
    after = reason(given, known=known, at=NOON + 4 * TEN)
    assert (after.verdict, after.certain) == ("missed", False)


def test_a_pause_that_goes_on_is_told_by_its_note_where_there_is_no_history() -> None:
    known = SchedulerRecord(((NOW, FOREVER),), (Event(NOW, "known", paused=True),))
    given = job(paused=True, note="paused by ann@host at 2027-03-01T11:55:00Z: deploy", updated_at=NOW)
    found = reason(given, [run(NOON - TEN)], known)
    assert (found.verdict, found.certain) == ("paused", True)
    assert reason(given, [], known, at=NOON - TEN).verdict != "paused"


def test_a_pause_that_has_ended_is_told_by_the_note_of_the_resume_where_there_is_no_history() -> None:
    known = SchedulerRecord(((NOW, FOREVER),), (Event(NOW, "known", paused=False),))
    given = job(note=resume_note("bob@host", NOON + 5 * MINUTE, "done", since=NOON - 5 * MINUTE))
    late = run(NOON + TEN, late=30 * SECOND, result=account(NOON - TEN, NOON))
    found = reason(given, [late], known)
    assert (found.verdict, found.certain) == ("paused", True)
    assert reason(given, [late], known, at=NOON - TEN).verdict == "superseded"
    assert reason(given, [], known, at=NOON + TEN).verdict == "unknown"


@pytest.mark.parametrize("overlap", ["buffer_one", "buffer_all", "cancel_other"])
@pytest.mark.parametrize("keeps_record", [True, False])
def test_a_start_that_waited_when_the_schedule_was_paused_was_dropped_by_the_pause(
    overlap: Any, *, keeps_record: bool
) -> None:
    """11:50 was at work until 12:05, and the schedule was paused from 12:02 to 12:10."""
    pause, end = NOON + 2 * MINUTE, NOON + TEN
    known = timeline(Event(pause, "paused", paused=True), Event(end, "unpaused", paused=False))
    given = job(overlap=overlap, note=resume_note("bob@host", end, "", since=pause))
    runs = [run(NOON - TEN, 15 * MINUTE), run(NOON + 2 * TEN)]
    found = reason(given, runs, known if keeps_record else None)
    assert (found.verdict, found.certain) == ("paused", True)
    assert "paused at 2027-03-01T12:02:00Z: a pause drops what waits" in found.text
    calm = reason(job(overlap=overlap), runs, timeline())
    assert calm.verdict != "paused"


def test_what_waits_is_never_older_than_a_run_that_has_come_out_of_the_queue_since() -> None:
    """Two wait behind 12:30, which waited for 12:00 itself; 12:10 does not."""
    runs = [run(NOON, 32 * MINUTE), run(NOON + 3 * TEN, None, 2 * MINUTE)]
    given, now = job(overlap="buffer_one", waiting=2), NOON + 45 * MINUTE
    for record in (timeline(), None):
        found = [each.verdict for each in ledger(given, runs, NOON, now, now, record) if each.run is None]
        assert found == ["overlap_skipped", "overlap_skipped", "buffered"]


def test_after_an_outage_catching_up_has_decided_and_not_overlap() -> None:
    """The server looked again at 12:25, and started 12:20: the newest of three that were missed."""
    away = timeline(wakes=(NOON - MINUTE, NOON + 25 * MINUTE))
    caught_up = [run(NOON + 2 * TEN, MINUTE, 5 * MINUTE)]
    for policy, verdict in (("run_latest", "superseded"), ("skip", "skipped")):
        given = job(overlap="cancel_other", catchup=CatchUpRequest(policy, "cancel_other", 60.0, 610.0))  # type: ignore[arg-type]  # a table's text
        assert reason(given, caught_up, away).verdict == verdict
    two = job(overlap="cancel_other", catchup=CatchUpRequest("run_all", "cancel_other", 60.0, 610.0, max_missed=2))
    assert reason(two, caught_up, away).verdict == "superseded"
    assert reason(two, caught_up, away, at=NOON + TEN).verdict != "superseded"


def test_times_of_an_earlier_spec_are_accounted_for() -> None:
    """It was due five minutes past each hour until 12:01."""
    found = ledger(job(), [], NOON - HOUR, NOON + TEN, NOW, timeline(OTHER, CHANGED))
    told = {each.scheduled_at: each for each in found}
    assert not told[NOON - HOUR + 5 * MINUTE].expected
    assert told[NOON - HOUR + 5 * MINUTE].verdict == "missed"
    assert NOON + 5 * MINUTE not in told
    assert told[NOON - TEN].verdict == "not_due_then"


def test_a_run_that_the_policy_ended_is_told_by_its_last_event_however_late_the_next_began() -> None:
    by_policy = run(NOON, TEN, status="terminated", said="terminated by schedule overlap policy")
    by_hand = run(NOON, TEN, status="terminated", said="stopped by ann")
    late = run(NOON + TEN, None, 9 * SECOND)
    for ended, verdict in ((by_policy, "cancelled"), (by_hand, "terminated")):
        [first, _] = ledger(job(overlap="terminate_other"), [ended, late], NOON, NOON + TEN, NOON + 11 * MINUTE)
        assert first.verdict == verdict


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        (2, ["buffered", "overlap_skipped", "buffered", "overlap_skipped"]),
        (1, ["buffered", "overlap_skipped", "overlap_skipped", "overlap_skipped"]),
        (0, ["overlap_skipped"] * 4),
    ],
)
def test_the_v2_scheduler_keeps_two_starts_waiting_under_buffer_one(waiting: int, expected: list[str]) -> None:
    """12:00 took until 12:32 and kept 12:10 and 12:20 waiting; 12:30 met a full queue. 12:10 runs since, and 12:40 found a place."""
    runs = [run(NOON, 32 * MINUTE), run(NOON + TEN, None, 22 * MINUTE)]
    given = job(overlap="buffer_one", waiting=waiting, is_v2=True)
    assert verdicts(given, runs, NOON + 55 * MINUTE) == [(each, True) for each in expected]


WRITTEN = NOON + 3 * TEN


@pytest.mark.parametrize(("written", "verdict"), [(WRITTEN, "unknown"), (NOON - TEN, "missed")])
def test_a_queue_that_gave_a_start_up_may_have_been_paused_where_nobody_remembers(
    written: datetime, verdict: str
) -> None:
    """12:00 waited for 11:50; V2 knows what was done to the schedule since it was written to last."""
    known = SchedulerRecord(((written, FOREVER),), (Event(written, "known", paused=False),))
    runs = [run(NOON - TEN, 15 * MINUTE), run(NOON + TEN)]
    found = reason(job(overlap="buffer_all", is_v2=True, updated_at=written), runs, known)
    assert (found.verdict, found.certain) == (verdict, False)
    assert "it waited for relay-2027-03-01T11:50:00Z to end, and waits no more" in found.text


def silent(overlap: Any, policy: Any, runs: list[Run], *, quiet: bool = True) -> Reason:
    """Noon of a job on V2 that nobody has written to since, with no sign of life in its namespace then."""
    known = SchedulerRecord(((NOON - HOUR, FOREVER),), (Event(NOON - HOUR, "known", paused=False),))
    given = job(overlap=overlap, is_v2=True, catchup=CatchUpRequest(policy, overlap, 60.0, 1e6), window=10**6)
    return why_not(Case(NOON, given, runs, NOW, known, quiet={NOON} if quiet else ()))


@pytest.mark.parametrize("overlap", ["skip", "cancel_other", "terminate_other", "allow_all"])
def test_on_v2_the_silence_of_the_namespace_tells_of_an_outage(overlap: str) -> None:
    """The next start was that of 12:10."""
    runs = [run(NOON - TEN, 5 * MINUTE), run(NOON + TEN, MINUTE, 2 * SECOND)]
    for policy, verdict in (("run_latest", "superseded"), ("skip", "skipped")):
        found = silent(overlap, policy, runs)
        assert (found.verdict, found.certain) == (verdict, False)
        assert "the server was probably away when it was due" in found.text
    assert silent(overlap, "run_latest", runs, quiet=False).verdict == "missed"
    assert silent(overlap, "run_latest", runs[:1]).verdict == "missed"


def test_under_terminate_other_no_start_waits_for_another_run() -> None:
    """11:50 was at work until 12:10 came: had the server been there, it would have ended it for 12:00."""
    runs = [run(NOON - TEN, 2 * TEN, status="terminated"), run(NOON + TEN, MINUTE)]
    assert silent("terminate_other", "run_latest", runs).verdict == "superseded"
    assert silent("terminate_other", "run_latest", runs, quiet=False).verdict == "missed"
    assert silent("cancel_other", "run_latest", runs).verdict == "overlap_skipped"


@pytest.mark.parametrize(
    ("ended", "v2", "told"), [(3, True, True), (3, False, False), (0, True, True), (-1, True, False), (5, True, False)]
)
def test_v2_lets_a_time_go_whose_jitter_is_not_over_when_a_run_ends(ended: int, *, v2: bool, told: bool) -> None:
    """Noon was to start at 12:05; the numbers are minutes."""
    given = job(overlap="allow_all", is_v2=v2, times=Times("UTC", intervals=(Interval(600),), jitter=360))
    runs = [run(NOON - TEN, (10 + ended) * MINUTE)]
    found = why_not(Case(NOON, given, runs, NOW, None, {NOON: NOON + 5 * MINUTE}))
    assert found.verdict == "missed"
    assert ("still waits for its jitter" in found.text) == told
