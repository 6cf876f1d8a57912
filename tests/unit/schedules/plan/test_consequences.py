"""What follows from making a change now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schedules.compile.job import compile_job
from schedules.model import Action, Activity, Calendar, DesiredSchedule, Interval, Policies, Range, RuntimeState, Times
from schedules.plan.change import Change
from schedules.plan.plan import make_plan
from tests.factories import NOW, desired, job, observed, utc

OWNER = "billing/production"


def daily(hour: int, minute: int = 0, **more: Any) -> Times:
    return Times("America/New_York", (Calendar(hour=(Range(hour, hour),), minute=(Range(minute, minute),)),), **more)


def change(wanted: DesiredSchedule | None, there: DesiredSchedule | None, now: datetime = NOW, **fields: Any) -> Change:
    by_id = {wanted.id: wanted} if wanted else {}
    server = {there.id: observed(there, **fields)} if there else {}
    (only,) = make_plan(OWNER, by_id, server, now).changes
    return only


def test_a_new_schedule_tells_its_next_five_times() -> None:
    """2027-03-01 is a Monday; New York is five hours behind, from 2027-03-14 on four."""
    follows = change(desired(), None, utc("2027-03-10T14:00")).consequences
    assert follows.before == ()
    assert follows.after == tuple(
        utc(f"2027-03-{day}T{hour}:00") for day, hour in ((11, 13), (12, 13), (15, 12), (16, 12), (17, 12))
    )


def test_changed_times_are_told_before_and_after() -> None:
    follows = change(desired(times=daily(9)), desired(times=daily(8))).consequences
    assert follows.before[:2] == (utc("2027-03-01T13:00"), utc("2027-03-02T13:00"))
    assert follows.after[:2] == (utc("2027-03-01T14:00"), utc("2027-03-02T14:00"))


def test_a_deletion_tells_the_times_that_go() -> None:
    follows = change(None, desired(times=daily(8))).consequences
    assert (len(follows.before), follows.after) == (5, ())


def test_a_schedule_that_ends_tells_the_times_that_are_left() -> None:
    times = daily(8, end_at=utc("2027-03-02T13:00"))
    assert len(change(desired(times=times), None).consequences.after) == 2


def test_each_policy_that_changes_is_told() -> None:
    wanted = desired(policies=Policies("allow_all", 86400))
    notes = change(wanted, desired(policies=Policies("skip", 3600, pause_on_failure=True))).consequences.notes
    assert notes == (
        "policy overlap changes from skip to allow_all",
        "policy catch-up window changes from 1h to 1d",
        "policy pause on failure changes from True to False",
    )


def test_runs_in_progress_are_told() -> None:
    wanted, there = desired(policies=Policies("skip", 60)), desired(policies=Policies("skip", 3600))
    (_, one) = change(wanted, there, activity=Activity(running=("a-2027",))).consequences.notes
    assert one == "a run is in progress (a-2027); it continues unchanged"
    (_, two) = change(wanted, there, activity=Activity(running=("a", "b"))).consequences.notes
    assert two == "2 runs are in progress; they continue unchanged"


def test_a_deletion_discards_what_waits() -> None:
    notes = change(None, desired(), activity=Activity(running=("a",), waiting=2)).consequences.notes
    assert notes[1] == "2 occurrences that wait would be discarded"


def test_what_waits_for_a_run_to_end_survives_an_update() -> None:
    wanted, there = desired(times=daily(9)), desired(times=daily(8))
    assert change(wanted, there, activity=Activity(waiting=2)).consequences.notes == ()


def test_what_is_due_and_not_started_is_discarded_by_an_update() -> None:
    late = Activity(next_times=(NOW - timedelta(minutes=2), NOW, NOW + timedelta(minutes=1)))
    notes = change(desired(policies=Policies("skip", 60)), desired(), activity=late).consequences.notes
    assert notes[1] == "2 occurrences that are due and not started would be discarded by this update"


def held_back(wanted: Times, **state: Any) -> tuple[str, ...]:
    """At 8:00:20 the run of 8:00 waits until 8:00:40."""
    now = utc("2027-03-01T13:00:20")
    activity = Activity(next_times=(utc("2027-03-01T13:00:40"),))
    there = desired(times=daily(8, jitter=60))
    return change(desired(times=wanted), there, now, activity=activity, **state).consequences.notes


def test_what_jitter_holds_back_survives_where_its_time_and_jitter_stay() -> None:
    both = Times("America/New_York", (*daily(8).calendars, *daily(17).calendars), jitter=60)
    assert held_back(both) == ()


def test_what_jitter_holds_back_may_be_discarded_where_jitter_or_time_change() -> None:
    text = "1 occurrence held back by jitter may be discarded by this update"
    assert text in held_back(daily(8))
    assert text in held_back(daily(17, jitter=60))
    assert text not in held_back(daily(17, jitter=60), state=RuntimeState(paused=True))


def test_a_change_of_what_becomes_of_missed_runs_is_told() -> None:
    def with_rule(**rule: object) -> DesiredSchedule:
        return desired(action=Action("JobWorkflow", "tickwright", ({"job": "a", "catchup": rule},)))

    three = with_rule(policy="run_all", max_missed=3, start_deadline=7200.0)
    assert change(three, with_rule(policy="run_latest", max_missed=1)).consequences.notes == (
        "policy catchup changes from run_latest to run_all of 3",
        "policy start_deadline changes from none to 2h",
    )
    assert (
        change(desired(), with_rule(policy="skip")).consequences.notes[0] == "policy catchup changes from skip to none"
    )


def test_a_window_that_a_change_jumps_over_is_told() -> None:
    """At 10:00 the run of 11:00 is moved to 9:30: today neither comes."""
    now = utc("2027-03-01T15:00")
    (note,) = change(desired(times=daily(9, 30)), desired(times=daily(11)), now).consequences.notes
    assert note == (
        "if applied now, this change loses a run: 2027-03-01 11:00 EST is removed, its new time 2027-03-01 09:30 EST has passed, "
        "and nothing runs until 2027-03-02 09:30 EST"
    )


def test_no_window_is_missed_where_the_next_run_is_no_later_or_the_last_one_was_made() -> None:
    now = utc("2027-03-01T15:00")
    assert change(desired(times=daily(9, 30)), desired(times=daily(9)), now).consequences.notes == ()
    assert change(desired(times=daily(12)), desired(times=daily(11)), now).consequences.notes == ()
    twice = Times("America/New_York", (*daily(9, 30).calendars, *daily(11).calendars))
    assert change(desired(times=twice), desired(times=daily(12)), now).consequences.notes == ()


def test_a_horizon_that_moves_is_told_as_such_and_as_nothing_else() -> None:
    """The instants of 2030 come, those of the past go; the days ahead are the same."""
    there = desired(times=daily(8, intervals=(Interval(int(utc("2027-01-05T05:00").timestamp())),)))
    wanted = desired(
        times=daily(8, intervals=(Interval(int(utc("2099-11-03T05:00").timestamp())),)),
        exact_until=utc("2031-01-01T05:00"),
    )
    assert change(wanted, there).consequences.notes == ("the times stay; DST horizon extended to 2031-01-01",)
    moved = replace(wanted, times=daily(9))
    assert "DST" not in "".join(change(moved, there).consequences.notes)
    other = replace(wanted, policies=Policies("allow_all", 3600))
    assert "DST" not in "".join(change(other, there).consequences.notes)


def test_holidays_of_another_year_are_a_horizon_that_moves() -> None:
    """Days off that are past go, and those of 2030 come."""
    old, new = (Calendar(day_of_month=(Range(4, 4),), month=(Range(7, 7),), year=(Range(y, y),)) for y in (2026, 2030))
    there = desired(times=daily(8, exclusions=(old,)))
    wanted = desired(times=daily(8, exclusions=(new,)), exact_until=utc("2031-01-01T05:00"))
    assert change(wanted, there).consequences.notes == (
        "the times stay; horizon of clock changes and holidays extended to 2031-01-01",
    )


def test_a_new_schedule_tells_its_horizon() -> None:
    notes = change(desired(exact_until=datetime(2031, 1, 1, tzinfo=UTC)), None).consequences.notes
    assert notes == ("clock changes are worked out until 2031-01-01",)


def test_changed_times_tell_their_horizon_anew() -> None:
    until = datetime(2031, 1, 1, tzinfo=UTC)
    notes = change(desired(times=daily(12), exact_until=until), desired(times=daily(11))).consequences.notes
    assert notes == ("clock changes are worked out until 2031-01-01",)
    only_policy = desired(policies=Policies("allow_all", 3600), exact_until=until)
    assert "clock" not in "".join(change(only_policy, desired()).consequences.notes)


def test_nights_on_which_it_does_not_run_are_told_when_they_come() -> None:
    """Berlin's clocks go back on 2027-10-31; a job of every second would need each of them given."""
    every_second = {"cron": "0-59 0-59 2 * * ?", "dialect": "quartz"}
    wanted = compile_job(job(schedule=every_second, timezone="Europe/Berlin"), "billing", "production", NOW)
    said = (
        "clock changes have too many runs to be given one by one: on 2027-10-31 it does not run in the hours concerned"
    )
    assert any(note.startswith(said) for note in change(wanted, None).consequences.notes)
    there = replace(wanted, times=daily(9))
    assert any(note.startswith(said) for note in change(wanted, there).consequences.notes)
    paused = replace(wanted, policies=Policies("allow_all", 3600))
    assert not any(note.startswith(said) for note in change(paused, wanted).consequences.notes)


IDLE = (RuntimeState(paused=True), RuntimeState(remaining_actions=0))


@pytest.mark.parametrize("idle", IDLE)
def test_nothing_is_due_to_a_schedule_that_starts_nothing(idle: RuntimeState) -> None:
    """The server goes on to show times for it, past ones too (seen on 1.32.0), and starts none of them."""
    activity = Activity(next_times=(NOW - timedelta(minutes=1), NOW + timedelta(hours=1)))
    for state, told in ((idle, False), (RuntimeState(), True)):
        notes = change(
            desired(times=daily(9)), desired(times=daily(8)), activity=activity, state=state
        ).consequences.notes
        assert any("due and not started" in note for note in notes) == told


@pytest.mark.parametrize("idle", IDLE)
def test_a_schedule_that_starts_nothing_misses_no_window(idle: RuntimeState) -> None:
    """At 8:30 the run of 9:00 is moved to 8:00."""
    now = utc("2027-03-01T13:30")
    for state, told in ((idle, False), (RuntimeState(), True)):
        notes = change(desired(times=daily(8)), desired(times=daily(9)), now, state=state).consequences.notes
        assert any("this change loses a run" in note for note in notes) == told


def test_what_is_due_to_a_schedule_that_is_deleted_is_told() -> None:
    activity = Activity(next_times=(NOW - timedelta(minutes=1), NOW + timedelta(hours=1)))
    (note,) = change(None, desired(), activity=activity).consequences.notes
    assert note == "1 occurrence that is due and not started would be discarded"


@pytest.mark.parametrize(
    ("wanted", "there", "told"),
    [(None, True, True), (True, False, True), (True, True, True), (False, True, False), (None, False, False)],
)
def test_that_a_schedule_will_be_paused_is_told_beside_its_next_times(
    wanted: bool | None, there: bool, told: bool
) -> None:
    follows = change(
        desired(times=daily(9), paused=wanted), desired(times=daily(8)), state=RuntimeState(paused=there)
    ).consequences
    assert ("it is paused: nothing runs until it is resumed" in follows.notes) == told


def test_a_schedule_that_is_made_paused_says_so() -> None:
    said = "it is paused: nothing runs until it is resumed"
    assert said in change(desired(paused=True), None).consequences.notes
    assert said not in change(desired(), None).consequences.notes


def test_a_job_that_begins_before_it_was_to_is_told() -> None:
    """A sync that has forgotten `--from` makes both sides live."""
    begins = utc("2027-03-05T13:30")
    later = desired(times=daily(8, start_at=begins))
    [note] = [each for each in change(desired(times=daily(8)), later).consequences.notes if "begin" in each]
    assert note.startswith("it was to begin at 2027-03-05T13:30:00Z, and now begins before")
    gone_by = change(desired(times=daily(8)), later, now=begins + timedelta(days=1)).consequences.notes
    assert not any("begin" in each for each in gone_by)
