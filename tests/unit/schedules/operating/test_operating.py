"""The pure parts of the operating commands."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from activities.account.facts import Verdict
from activities.account.record import Event, SchedulerRecord
from activities.contract import BACKFILL_PREFIX, BackfillProgress, JobRequest, StepRequest
from activities.idempotency import idempotency_key
from activities.note import paused_at, paused_until
from activities.occurrence import stamp
from activities.steps.template import render
from schedules.errors import SettingsError
from schedules.ledger.occurrences import Occurrence, ledger, origin_of
from schedules.notes import MakeUp, checked_reason, make_up_of, pause_note, resume_note
from schedules.operating.assign import assigned
from schedules.operating.backfill_request import request_for
from schedules.operating.holes import estimate, holes, of_pause, progress_text
from schedules.operating.max_rate import seconds_between
from tests.factories import utc
from tests.runs import request
from tests.step_calls import step_call
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, job, run

TEN = 10 * MINUTE
HTTP = request("http", {"url": "https://x", "json": {"n": 1, "who": "ann", "at": "{scheduled_at}", "tags": ["a", "b"]}})


def two_steps() -> JobRequest:
    [step] = HTTP.steps
    other = StepRequest("tell", "command", {"argv": ["tell", "ops"]}, 1.0, 30.0)
    return replace(HTTP, steps=[replace(step, name="post"), other])


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("http.json.n=42", ("json", "n"), 42),
        ("http.json.who=42", ("json", "who"), "42"),  # text stays text
        ("http.json.at=2027-03-01", ("json", "at"), "2027-03-01"),
        ("http.json.tags.1=c", ("json", "tags", 1), "c"),
        ("http.json.new=true", ("json", "new"), True),
        ("http.json.who=a=b", ("json", "who"), "a=b"),
        ("http.url=https://y/{job}", ("url",), "https://y/{{job}}"),
    ],
)
def test_an_assignment_changes_one_place(text: str, path: tuple[Any, ...], value: Any) -> None:
    params = assigned(HTTP, [text])["run"]
    expected: Any = {"url": "https://x", "json": {"n": 1, "who": "ann", "at": "{scheduled_at}", "tags": ["a", "b"]}}
    inside = expected
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    assert params == expected
    assert HTTP.steps[0].params["json"]["n"] == 1


def test_a_value_reaches_the_step_as_it_was_written() -> None:
    value = "${secret:TOKEN} {scheduled_at} }{"
    params = assigned(HTTP, [f"http.json.who={value}"])["run"]

    def secret(name: str) -> str:
        raise AssertionError(name)

    assert render(params["json"]["who"], {}, secret) == value


def test_several_steps_are_told_apart_by_name() -> None:
    changed = assigned(two_steps(), ["post.http.json.n=2", "tell.command.argv.1=dev", "post.http.json.who=bob"])
    assert changed["tell"] == {"argv": ["tell", "dev"]}
    assert (changed["post"]["json"]["n"], changed["post"]["json"]["who"]) == (2, "bob")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("http.url=ftp://x", '"ftp://x" is not an absolute URL; write for example'),
        ("http.json.n", "write handler.parameter=value"),
        ("n=1", "write handler.parameter=value"),
        ("http..n=1", "write handler.parameter=value"),
        ("command.argv.0=x", "has the handler `http`"),
        ("http.jsn.n=1", "did you mean `json`?"),
        ("http.json.tags.2=x", "a list with 2 items"),
        ("http.json.who.x=1", "has no keys"),
        ("http.json.nn.x=1", "known keys there"),
        ("http.json.n=many", "write a number"),
        ("http.json.tags=x", "write a list"),
    ],
)
def test_a_wrong_assignment_is_refused_with_what_to_write(text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told.replace("?", r"\?")) as refused:
        assigned(HTTP, [text])
    assert refused.value.exit_code == 2


def test_an_unknown_step_is_refused() -> None:
    with pytest.raises(SettingsError, match="did you mean `post`"):
        assigned(two_steps(), ["pots.http.json.n=2"])


def test_holes_are_the_times_without_a_success() -> None:
    runs = [
        run(NOON),
        run(NOON + TEN, status="failed"),
        run(NOON + 2 * TEN),
        run(NOON + 2 * TEN, late=TEN, status="failed"),  # a later run does not take the success away
        run(NOON + 4 * TEN, took=None),
    ]
    now = NOON + 4 * TEN + MINUTE
    occurrences = ledger(job(), runs, NOON, now, now)

    found = holes(occurrences, missing=True)

    assert found.expected == 5
    assert found.times == ["2027-03-01T12:10:00Z", "2027-03-01T12:30:00Z"]
    assert [each.scheduled_at for each in found.succeeded] == [NOON, NOON + 2 * TEN]
    assert [each.scheduled_at for each in found.going] == [NOON + 4 * TEN]
    assert len(holes(occurrences, again=True).run) == 4


def test_what_the_namespace_has_forgotten_is_no_hole_but_runs_when_it_is_named() -> None:
    now = NOON + timedelta(days=3)
    recent = ("relay-2027-03-04T11:50:00Z",)
    known = job(created_at=NOON - timedelta(days=1), retention=timedelta(days=1), recent=recent)
    occurrences = ledger(known, [], NOON, NOON + TEN, now)

    assert holes(occurrences, missing=True).run == ()
    assert len(holes(occurrences, missing=True).unknown) == 2
    assert len(holes(occurrences).run) == 2


def test_the_time_that_a_backfill_takes_is_told_by_the_runs_that_were() -> None:
    runs = [run(NOON, took=2 * MINUTE), run(NOON + TEN, took=4 * MINUTE), run(NOON + 2 * TEN, took=MINUTE / 2)]
    runs.append(run(NOON + 3 * TEN, took=9 * MINUTE, status="failed"))
    assert estimate(runs, 10, 0, side_by_side=False) == timedelta(minutes=20)
    assert estimate(runs, 10, 300, side_by_side=False) == timedelta(minutes=50)
    assert estimate(runs, 10, 0, side_by_side=True) == timedelta(minutes=4)
    assert estimate([], 10, 0, side_by_side=True) is None


@pytest.mark.parametrize(("text", "seconds"), [(None, 0.0), ("30/m", 2.0), ("2/s", 0.5), ("6/h", 600.0)])
def test_a_rate_is_the_distance_of_starts(text: str | None, seconds: float) -> None:
    assert seconds_between(text) == seconds


@pytest.mark.parametrize("text", ["", "0/m", "5", "5/d", "-1/m", "1.5/m"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="30/m"):
        seconds_between(text)


def test_a_pause_tells_since_when_it_is() -> None:
    note = pause_note("ann@host at home", NOON, "by day", NOON + TEN)
    assert note == ("paused by ann@host at home at 2027-03-01T12:00:00Z: by day (until 2027-03-01T12:10:00Z)")
    assert paused_at(note) == utc("2027-03-01T12:00")
    assert paused_at("paused by somebody at noon") is None
    assert paused_until(note) == NOON + TEN


def test_a_pause_without_an_end_has_none_whatever_its_reason_says() -> None:
    note = pause_note("ann@host", NOON, "(until 2027-03-02T12:00:00Z), or later", None)
    assert paused_until(note) is None
    assert paused_until("by hand (until 2027-03-02T12:00:00Z)") is None
    assert checked_reason(" two\n lines \x1b[31m") == "two lines ␣[31m"


def test_a_repetition_has_another_key_in_every_step_and_each_time() -> None:
    call = step_call()
    again, once_more = replace(call, rerun="2027-03-02T08:00:00Z"), replace(call, rerun="2027-03-03T08:00:00Z")
    assert idempotency_key(again) == f"{idempotency_key(call)}/rerun-2027-03-02T08:00:00Z"
    assert len({idempotency_key(each) for each in (call, again, once_more)}) == 3


@pytest.mark.parametrize(("by", "origin"), [(f"{BACKFILL_PREFIX}relay", "backfill"), ("ann@host", "trigger")])
def test_who_asked_the_schedule_tells_a_backfill_from_a_trigger(by: str, origin: str) -> None:
    asked = Event(NOON + TEN, "triggered", by=by, span=(NOON, NOON))
    late = run(NOON, late=TEN + MINUTE)
    assert origin_of(late, SchedulerRecord(events=(asked,)), expected=True) == origin


def test_a_run_that_a_backfill_started_itself_is_named_so() -> None:
    assert origin_of(run(NOON, scheduled_by="", asked_by_hand=True), None, expected=True) == "backfill"


def test_the_request_of_a_backfill_names_the_ids_and_keeps_to_overlap() -> None:
    made = request_for(job(workflow_id="other"), ["2027-03-01T12:00:00Z"], interval=2.0)
    assert (made.schedule, made.prefix, made.side_by_side, made.interval) == ("relay", "other-", False, 2.0)
    assert made.so_far.total == 1
    assert request_for(job(overlap="allow_all"), []).side_by_side


def test_progress_in_words() -> None:
    progress = BackfillProgress(total=12, succeeded=2, failed=1, left_out=1)
    assert progress_text(progress) == "4 of 12 done: 2 succeeded, 1 failed, 1 no longer needed"


def test_what_is_older_than_the_namespace_keeps_may_have_run_whatever_is_known_of_it() -> None:
    known = job(created_at=NOON + TEN)
    occurrences = ledger(known, [run(NOON - TEN, status="failed")], NOON - TEN, NOON + TEN, NOON + 5 * TEN)
    assert [each.verdict for each in occurrences] == ["failed", "before_creation", "missed"]
    found = holes(occurrences, missing=True, kept_since=NOON + MINUTE)
    assert [each.verdict for each in found.run] == ["failed", "missed"]
    assert len(found.unknown) == 1
    assert len(holes(occurrences, kept_since=NOON + MINUTE).run) == 3


def test_what_may_wait_in_the_queue_is_no_hole() -> None:
    """12:10 and 12:20 wait for 12:00, which waited itself."""
    known = job(overlap="buffer_all", waiting=2)
    runs = [run(NOON - TEN, 15 * MINUTE), run(NOON, None, 5 * MINUTE)]
    found = holes(ledger(known, runs, NOON, NOON + 2 * TEN, NOON + 25 * MINUTE), missing=True)
    assert (len(found.run), len(found.going)) == (0, 3)


def test_a_run_started_by_hand_at_a_time_of_its_own_came_from_a_trigger() -> None:
    by_hand = run(NOON + MINUTE, scheduled_by="", asked_by_hand=True)
    assert origin_of(by_hand, None, expected=False) == "trigger"
    assert origin_of(by_hand, None, expected=True) == "backfill"


@pytest.mark.parametrize("reason", ["", "well again", "again (to make up: no)"])
@pytest.mark.parametrize("catchup", ["run_latest", "run_all", "run_all --max 5"])
def test_a_resume_notes_what_it_has_yet_to_make_up_for(reason: str, catchup: str) -> None:
    wish = MakeUp(utc("2027-03-01T10:00"), utc("2027-03-01T12:00"), catchup)
    note = resume_note("ann@host", wish.resumed, reason, wish)
    assert make_up_of(note) == wish
    assert make_up_of(resume_note("ann@host", wish.resumed, reason)) is None
    assert make_up_of("somebody else's note") is None


def test_a_pause_of_a_paused_job_keeps_since_when() -> None:
    first, second = utc("2027-03-01T10:00"), utc("2027-03-01T12:00")
    note = pause_note("ann@host", second, "longer (until noon)", utc("2027-03-02T00:00"), first)
    assert paused_at(note) == first
    assert paused_until(note) == utc("2027-03-02T00:00")


def test_a_resume_makes_up_for_the_newest_times_of_its_pause_that_have_not_run() -> None:
    since, resumed = NOON, NOON + 5 * MINUTE

    def at(minute: int, verdict: Verdict, *, ran: bool = False) -> Occurrence:
        when = NOON + minute * MINUTE
        return Occurrence(when, verdict, expected=True, origin="none", run=run(when) if ran else None)

    times = [
        at(-2, "succeeded", ran=True),
        at(-1, "missed"),  # the schedule was late with it, and then paused
        at(0, "paused"),
        at(1, "failed", ran=True),  # by hand
        at(2, "due"),
        at(3, "paused"),
        at(4, "running", ran=True),  # by hand
        at(5, "succeeded", ran=True),  # by hand
        at(6, "due"),  # the pause had not ended yet
        at(7, "failed", ran=True),
        at(8, "not_yet_due"),
    ]
    minutes = {stamp(NOON + minute * MINUTE): minute for minute in range(-2, 9)}
    assert [minutes[each] for each in of_pause(times, since, resumed, None)] == [-1, 0, 1, 2, 3, 6]
    assert [minutes[each] for each in of_pause(times, since, resumed, 1)] == [6]
    assert [minutes[each] for each in of_pause(times[:8], since, resumed, 1)] == []
    assert [minutes[each] for each in of_pause(times[:8], since, resumed, 3)] == [3]
