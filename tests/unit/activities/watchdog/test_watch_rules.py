"""When people are told of missed runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from activities.contract import TimesRequest
from activities.notices.contract import Target
from activities.watchdog.contract import Finding, WatchdogRequest, WatchedJob, WatchState
from activities.watchdog.rules import Tally, begins_with, is_after_outage, is_to_be_asked, latest_to_ask

T0 = datetime(2027, 3, 1, 13, tzinfo=UTC)
JOB = WatchedJob("ledger", TimesRequest("UTC"), grace=60.0, paused_for=3600.0, targets=[0])
REQUEST = WatchdogRequest("billing", "production", [Target("hook")], [JOB])
NONE_STARTED = Finding("other", "its schedule has started no run")
PAUSED = Finding("paused", "its schedule is paused")


def minutes(count: float) -> datetime:
    return T0 + timedelta(minutes=count)


def look(state: WatchState, now: datetime, at: datetime, finding: Finding | None) -> tuple[WatchState, list[str]]:
    tally = Tally(state, now)
    tally.take(JOB, at, finding)
    return tally.done(REQUEST), [each.scheduled_at for each in tally.missed]


def test_a_run_must_have_begun_once_its_grace_is_over() -> None:
    assert latest_to_ask(JOB, T0) == minutes(-1)
    state = begins_with(T0)
    assert not is_to_be_asked(JOB, minutes(-1), state)
    assert is_to_be_asked(JOB, minutes(-0.5), state)
    assert not is_to_be_asked(JOB, None, state)


def test_a_job_is_told_once_until_it_runs_again_and_then_anew() -> None:
    state, first = look(begins_with(T0), minutes(2), minutes(0.5), NONE_STARTED)
    state, second = look(state, minutes(4), minutes(2.5), NONE_STARTED)
    state, runs = look(state, minutes(6), minutes(4.5), None)
    state, third = look(state, minutes(8), minutes(6.5), NONE_STARTED)
    assert (first, second, runs, third) == (["2027-03-01T13:00:30Z"], [], [], ["2027-03-01T13:06:30Z"])


def test_a_paused_job_is_told_only_after_its_time_and_with_the_first_run_that_it_missed() -> None:
    state, early = look(begins_with(T0), minutes(2), minutes(0.5), PAUSED)
    state, later = look(state, minutes(60), minutes(57), PAUSED)
    state, late = look(state, minutes(60.5), minutes(57), PAUSED)  # an hour after the first
    assert (early, later, late) == ([], [], ["2027-03-01T13:00:30Z"])


def test_what_was_missed_in_a_pause_is_not_told_once_it_is_over() -> None:
    state, _ = look(begins_with(T0), minutes(2), minutes(0.5), PAUSED)
    state, told = look(state, minutes(3), minutes(0.5), NONE_STARTED)
    assert (told, state.missing) == ([], {})


def test_a_run_missed_after_a_pause_is_told() -> None:
    state, _ = look(begins_with(T0), minutes(2), minutes(0.5), PAUSED)
    _, told = look(state, minutes(6), minutes(4.5), NONE_STARTED)
    assert told == ["2027-03-01T13:00:30Z"]


def test_the_first_look_after_a_gap_as_long_as_the_grace_waits_for_late_runs() -> None:
    state = begins_with(T0)
    assert not is_after_outage(REQUEST, state, minutes(1))
    assert is_after_outage(REQUEST, state, minutes(1.1))


def test_the_shortest_grace_says_how_long_a_gap_is() -> None:
    request = replace(REQUEST, jobs=[replace(JOB, job="patient", grace=600.0), JOB])
    assert is_after_outage(request, begins_with(T0), minutes(1.1))


def test_a_job_that_is_watched_no_more_is_forgotten() -> None:
    state, _ = look(begins_with(T0), minutes(2), minutes(0.5), NONE_STARTED)
    left = Tally(state, minutes(3)).done(WatchdogRequest("billing", "production", [], []))
    assert (left.missing, left.told) == ({}, [])
