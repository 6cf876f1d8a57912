"""Why people were told of a run, or not: from what its incident has heard and sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from activities.account.facts import Run, Verdict
from activities.contract import TimesRequest
from activities.notices.contract import AlertRequest, Target
from activities.watchdog.contract import WatchedJob, WatchState
from schedules.ledger.notices.notified import Notified, Watching, of_missed, of_run
from schedules.ledger.notices.sent import NoticeHistory, Reported, Sent
from schedules.views.notices import alert_lines
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, run

HOOK = [Target("hook", url="https://hooks.example/${secret:WORD}")]
TOLD = AlertRequest(HOOK)


def failed(minutes: int = 0, **fields: Any) -> Run:
    return run(NOON + minutes * MINUTE, **{"status": "failed", **fields})


def report(of: Run, outcome: str = "failed") -> Reported:
    return Reported(of.run_id, of.id, outcome, stamp(of.scheduled_at))


def sent(of: Run, since: Run, event: str = "failure") -> Sent:
    return Sent(event, "hook", "delivered", NOON, 1, "incident", "part", 7, of.id, of.run_id, stamp(since.scheduled_at))


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def told(reports: list[Reported], notices: list[Sent], **before: Any) -> NoticeHistory:
    return NoticeHistory("incident", "part", reports=(*reports,), sent=(*notices,), **before)


def why(of: Run, alerts: AlertRequest | None = TOLD, *parts: NoticeHistory) -> str:
    found = of_run(of, alerts, parts)
    assert not found.sent
    return found.why


@pytest.mark.parametrize(
    ("of", "alerts", "said"),
    [
        (run(NOON, None), AlertRequest(HOOK), "it goes on"),
        (run(NOON), AlertRequest(HOOK), "it succeeded, and no incident was open"),
        (failed(), None, "no channel: the spec of that time had neither"),
        (failed(), AlertRequest(pause_after=3), "no channel: the spec of that time had neither"),
        (failed(status="cancelled"), AlertRequest(HOOK), "a run that ended as cancelled says nothing"),
        (run(NOON, marked="superseded"), AlertRequest(HOOK), "a run that ended as superseded says nothing"),
        (
            failed(status="terminated"),
            AlertRequest(HOOK),
            "the server ended the run (terminated), so the run could not report",
        ),
        (failed(), AlertRequest(HOOK), "no incident of that time has the run"),
    ],
)
def test_without_an_incident_the_run_itself_says_why_nobody_was_told(
    of: Run, alerts: AlertRequest | None, said: str
) -> None:
    assert why(of, alerts).startswith(said)


def test_a_second_incident_in_the_same_workflow_is_counted_anew() -> None:
    """It goes on while a notice of the first is on its way."""
    one, well, two, three = failed(0), run(NOON + MINUTE), failed(2), failed(3)
    part = told(
        [report(one), report(well, "succeeded"), report(two), report(two), report(three)],
        [sent(one, one), sent(three, two)],
    )
    alerts = AlertRequest(HOOK, after=2)
    assert why(two, alerts, part) == "failure 1 in a row, and the notice comes with failure 2 (after: 2)"
    found = of_run(two, alerts, [part]).incident
    assert found
    assert (found.since, found.told_of, found.ended_by) == (stamp(two.scheduled_at), three.id, "")
    first = of_run(one, alerts, [part]).incident
    assert first
    assert (first.number, first.ended_by) == (1, well.id)


def test_a_later_part_of_a_long_incident_knows_what_was_told_before_it() -> None:
    of = failed(5)
    part = told([report(of)], [], failures=4_000, since="2027-01-01T00:00:00Z", was_told=True)
    assert why(of, AlertRequest(HOOK), part) == (
        "the incident, open since 2027-01-01T00:00:00Z, already had its notice, for a run before"
    )
    found = of_run(of, AlertRequest(HOOK), [part]).incident
    assert found
    assert found.number == 4_001


def test_a_success_ends_an_incident_that_nobody_was_told_of() -> None:
    one, well = failed(0), run(NOON + MINUTE)
    part = told([report(one), report(well, "succeeded")], [])
    assert why(well, AlertRequest(HOOK, after=2), part).startswith(
        "it ended the incident since 2027-03-01T12:00:00Z before"
    )
    lines = dict(alert_lines(of_run(well, AlertRequest(HOOK, after=2), [part])))
    assert lines["incident"].startswith("ended by this success; since 2027-03-01T12:00:00Z, no notice sent")


@pytest.mark.parametrize(
    ("alerts", "said"),
    [
        (AlertRequest(HOOK, on_recovery=[]), "on_recovery names no channel"),
        (
            AlertRequest(HOOK),
            "the recovery notice of the incident since 2027-03-01T12:00:00Z follows when the notices before it",
        ),
    ],
)
def test_a_recovery_that_nobody_was_told_of_is_not_wanted_or_waits_for_the_notices_before_it(
    alerts: AlertRequest, said: str
) -> None:
    one, well = failed(0), run(NOON + MINUTE)
    part = told([report(one), report(well, "succeeded")], [sent(one, one)])
    assert why(well, alerts, part).startswith(said)


def test_what_cannot_be_read_is_not_known() -> None:
    part = told([], [], readable=False)
    assert why(failed(), AlertRequest(HOOK), part).startswith("not known")
    assert of_missed(NOON, "missed", part, None).why.startswith("not known")


def watching(**state: Any) -> Watching:
    watched = WatchedJob("relay", TimesRequest("UTC"), 300.0, 3600.0, [0])
    return Watching(watched, WatchState(**{"looked_at": stamp(NOON + 10 * MINUTE), **state}))


@pytest.mark.parametrize(
    ("verdict", "knows", "said"),
    [
        ("overlap_skipped", watching(), "on_missed does not cover the outcome overlap_skipped"),
        ("superseded", watching(), "on_missed does not cover the outcome superseded"),
        ("missed", None, "no watchdog has checked the job"),
        (
            "missed",
            watching(looked_at=""),
            "its grace of 5m ends at 2027-03-01T12:05:00Z; the last check of the watchdog: never",
        ),
        ("missed", watching(looked_at=stamp(NOON + 4 * MINUTE)), "its grace of 5m ends at 2027-03-01T12:05:00Z"),
        (
            "missed",
            watching(missing={"relay": "T"}, told=["relay"]),
            "the job had its notice, for its time T; the next comes after",
        ),
        (
            "paused",
            watching(missing={"relay": "T"}, paused=["relay"]),
            "the job is paused, and the notice comes after 1h (paused_for)",
        ),
        ("missed", watching(missing={"other": "T"}, told=["other"]), "the watchdog did not see it"),
    ],
)
def test_a_time_that_nobody_was_told_of_says_why(verdict: Verdict, knows: Watching | None, said: str) -> None:
    assert of_missed(NOON, verdict, None, knows).why.startswith(said)


def test_an_address_is_never_shown() -> None:
    notice = sent(failed(), failed())
    lines = "\n".join(text for _, text in alert_lines(Notified((notice,))))
    assert lines == "failure to channel hook: delivered at 2027-03-01T12:00:00Z, 1 attempt (incident part, event 7)"


def test_what_an_incident_saw_itself_ends_it_as_if_the_run_had_told() -> None:
    """The run that succeeded is known by its name alone, since only the run after it told of it."""
    first, good, second = failed(0), run(NOON + 10 * MINUTE), failed(20)
    seen = replace(report(good, "succeeded"), run_id="")
    recovery = replace(sent(good, first, "recovery"), about_run="")
    part = told([report(first), seen, report(second)], [sent(first, first), recovery, sent(second, second)])

    assert [each.event for each in of_run(good, TOLD, [part]).sent] == ["recovery"]
    incidents = [of_run(each, TOLD, [part]).incident for each in (first, good, second)]
    assert [(each.number, each.ended_by) for each in incidents if each] == [(1, good.id), (0, good.id), (1, "")]


def test_a_job_that_was_made_anew_begins_to_count_anew() -> None:
    first, second = failed(0), failed(20)
    part = told([report(first), Reported("", "look", "gone", ""), report(second)], [])
    incidents = [of_run(each, TOLD, [part]).incident for each in (first, second)]
    assert [(each.number, each.ended_by) for each in incidents if each] == [(1, ""), (1, "")]
