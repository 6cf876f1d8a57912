"""What follows from failures in a row: a table of stories, and rules that hold in every story."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.notices.contract import AlertRequest, IncidentState, Report, Target, Tended
from workflows import streak

HOOK = [Target("hook", url="https://hook.example")]


def report(number: int, outcome: str = "failed", **alerts: Any) -> Report:
    wanted = AlertRequest(**{"on_failure": HOOK, **alerts})
    at = f"2027-03-01T13:00:{number % 60:02}Z"
    who, run = ("billing", "production", "ledger", "UTC"), (f"ledger-{at}", f"run-{number}")
    return Report(*who, outcome, at, "", 1, 1.0, "", *run, wanted, ended(60.0 * number), handed_on=True)


def ended(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def story(text: str, **alerts: Any) -> list[str]:
    """What is done at each letter, a minute apart: `f` a failure, `s` a success, `r` the last report once more, `.` nothing."""
    state, told, last = streak.CALM, [], report(0)
    for number, letter in enumerate(text):
        now, actions = 60.0 * number, list[streak.Action]()
        if letter in "fs":
            last = report(number, {"f": "failed", "s": "succeeded"}[letter], **alerts)
        if letter != ".":
            state, actions = streak.take(state, last, now)
        state, due = streak.due(state, now)
        told.append("+".join([*actions, *due]))
    return told


@pytest.mark.parametrize(
    ("text", "alerts", "expected"),
    [
        ("fffs", {}, ["failure", "", "", "recovery"]),
        ("fsfs", {}, ["failure", "recovery", "failure", "recovery"]),
        ("ffff", {"after": 3}, ["", "", "failure", ""]),
        ("ffsf", {"after": 3}, ["", "", "", ""]),
        ("ffs", {"after": 2}, ["", "failure", "recovery"]),
        ("frrs", {"after": 2}, ["", "", "", ""]),
        ("f....", {"remind_every": 120.0}, ["failure", "", "reminder", "", "reminder"]),
        ("fffff", {"remind_every": 120.0}, ["failure", "", "reminder", "", "reminder"]),
        ("f..s...", {"remind_every": 120.0}, ["failure", "", "reminder", "recovery", "", "", ""]),
        ("fff.s", {"pause_after": 2}, ["failure", "pause", "", "", "resume+recovery"]),
        ("ff..f.s", {"pause_after": 2, "retry_every": 120.0}, ["failure", "pause", "", "try_once", "", "", "resume+recovery"]),
        ("ff.....", {"pause_after": 2, "retry_every": 120.0}, ["failure", "pause", "", "try_once", "", "try_once", ""]),
        ("ff..s..", {"pause_after": 2, "on_failure": []}, ["failure", "pause", "", "", "resume+recovery", "", ""]),
        ("s", {}, [""]),
    ],
)  # fmt: skip
def test_a_story_is_told_so(text: str, alerts: dict[str, Any], expected: list[str]) -> None:
    assert story(text, **alerts) == expected


def failed(times: int, **alerts: Any) -> IncidentState:
    state = streak.CALM
    for number in range(times):
        state, _ = streak.take(state, report(number, **alerts), float(number))
    return state


def test_a_streak_begins_with_the_first_failure() -> None:
    state = failed(3)
    assert (state.failures, state.since, state.first_run) == (3, "2027-03-01T13:00:00Z", "run-0")


@pytest.mark.parametrize("standing", ["going", "paused_by_other"])
def test_what_an_operator_did_ends_the_tries_and_as_many_failures_pause_again(standing: Any) -> None:
    wanted: dict[str, Any] = {"pause_after": 2, "retry_every": 60.0}
    state = streak.tended(failed(3, **wanted), Tended(standing))
    assert state.retry_at is None
    state, first = streak.take(state, report(10, **wanted), 100.0)
    state, second = streak.take(state, report(11, **wanted), 101.0)
    assert (first, second) == ([], ["pause"])


def test_a_job_that_was_not_paused_is_paused_as_soon_as_ever() -> None:
    state = streak.tended(failed(1, pause_after=2), Tended("going"))
    assert streak.take(state, report(10, pause_after=2), 100.0)[1] == ["pause"]


def test_a_failure_before_the_success_that_is_known_begins_nothing() -> None:
    state, _ = streak.take(failed(1), report(3, "succeeded"), 180.0)
    state, actions = streak.take(state, report(2), 181.0)
    assert (state.failures, actions) == (0, [])
    assert streak.take(state, report(4), 240.0)[1] == ["failure"]


def test_a_schedule_that_is_gone_ends_the_incident() -> None:
    assert streak.is_over(streak.tended(failed(2), Tended("gone")))


def test_what_the_newest_run_says_is_what_counts() -> None:
    state = failed(1, remind_every=60.0)
    state, _ = streak.take(state, report(5), 5.0)
    assert streak.due(state, 100.0)[1] == []


@dataclass
class Counted:
    """Told by hand, from the letters alone."""

    incidents: int = 0
    recoveries: int = 0


def counted(letters: list[str], after: int) -> Counted:
    found = Counted()
    for block in "".join(letters).split("s")[:-1]:
        found.incidents += len(block) >= after
        found.recoveries += len(block) >= after
    found.incidents += len("".join(letters).split("s")[-1]) >= after
    return found


@given(st.lists(st.sampled_from("fs"), max_size=60), st.integers(1, 5))
def test_each_streak_that_is_long_enough_is_told_once_and_recovers_once(letters: list[str], after: int) -> None:
    told = "+".join(story("".join(letters), after=after)).split("+")
    expected = counted(letters, after)
    assert (told.count("failure"), told.count("recovery")) == (expected.incidents, expected.recoveries)


@given(st.text("fsr.", max_size=80), st.integers(1, 4), st.integers(1, 4), st.sampled_from([None, 30.0, 90.0, 600.0]))
def test_reminders_keep_their_distance_and_come_only_within_an_incident(
    text: str, after: int, pause_after: int, every: float | None
) -> None:
    wanted = {"after": after, "pause_after": pause_after, "remind_every": every}
    last: float | None = None
    for number, told in enumerate(story(text, **wanted)):
        now = 60.0 * number
        if "reminder" in told:
            assert every is not None
            assert last is not None
            assert now - last >= every
        if "failure" in told or "reminder" in told:
            last = now
        if "recovery" in told:
            last = None


@given(st.text("fsr.", max_size=80), st.integers(1, 4))
def test_a_pause_comes_before_each_resumption(text: str, pause_after: int) -> None:
    paused = False
    for told in story(text, pause_after=pause_after, retry_every=60.0):
        if "resume" in told:
            assert paused
            paused = False
        assert paused or "try_once" not in told
        paused |= "pause" in told.split("+")


def test_only_so_many_runs_are_remembered() -> None:
    state = failed(streak.REMEMBERED + 50)
    assert len(state.seen) == streak.REMEMBERED
    again, actions = streak.take(state, report(streak.REMEMBERED + 49), 0.0)
    assert (again, actions) == (state, [])
    assert replace(state, seen=[]).failures == streak.REMEMBERED + 50
