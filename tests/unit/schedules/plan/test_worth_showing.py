"""What of a change's fields a person is shown: the JSON document and the plan file keep all of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from schedules.compile.job import compile_job
from schedules.plan.change import Change
from schedules.plan.plan import Applied, Plan, Rules, make_plan
from schedules.plan.worth_showing import worth_showing
from schedules.views.plan import document
from schedules.views.plan_lines import plan_lines
from schedules.views.plan_markdown import plan_markdown
from tests.factories import NOW, job, observed

DIRECT = {"workflow": {"type": "Close", "args": [{"times": 1}], "direct": {"details": "a"}}}


def plan(before: dict[str, Any], after: dict[str, Any], owner: str = "billing") -> Plan:
    there = compile_job(job(**before), owner, "production", NOW)
    wanted = compile_job(job(**after), "billing", "production", NOW)
    return make_plan(
        "billing/production", {wanted.id: wanted}, {there.id: observed(there)}, NOW, rules=Rules(adopt=True)
    )


def change(*given: Any, **more: Any) -> Change:
    return plan(*given, **more).changes[0]


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        ({"schedule": "0 9 * * 1-5"}, ["times.calendars[0]"]),
        ({"schedule": ["0 6 * * *", "0 9 * * *"]}, ["times.calendars"]),
        ({"timezone": "Europe/Berlin"}, ["times.timezone"]),
        ({"timeout": "6m"}, ["action.args[0].steps[0].timeout"]),
        ({"labels": {"team": "a"}}, ["action.details"]),
        ({"description": "Closes"}, ["action.summary", "action.details"]),
        ({"overlap": "allow_all"}, ["policies.overlap", "policies.catchup_window"]),
    ],
)
def test_a_field_that_repeats_another_is_not_shown(after: dict[str, Any], shown: list[str]) -> None:
    assert [item.field for item in worth_showing(change({}, after))] == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(3, [f"times.calendars[{place}]" for place in range(3)]), (4, ["times.calendars"])]
)
def test_up_to_three_calendars_that_differ_are_shown_one_by_one(count: int, shown: list[str]) -> None:
    def later(changed: int) -> dict[str, Any]:
        """Five times, of which so many are a minute after the hour."""
        return {"timezone": "UTC", "schedule": [f"{int(hour < changed)} {hour} {hour + 1} * *" for hour in range(5)]}

    assert [item.field for item in worth_showing(change(later(0), later(count)))] == shown


def test_a_new_owner_is_told_once() -> None:
    assert [item.field for item in worth_showing(change({}, {}, owner="payroll"))] == ["owner"]


def test_what_a_workflow_of_ones_own_is_given_repeats_nothing() -> None:
    wanted = {"workflow": {"type": "Close", "args": [{"times": 2}], "direct": {"details": "b"}}}
    fields = [item.field for item in worth_showing(change({"run": DIRECT}, {"run": wanted, "schedule": "0 9 * * *"}))]
    assert fields == ["times.calendars[0]", "action.args[0].times", "action.details"]


def plan_text(plan: Plan) -> str:
    """As a terminal shows it."""
    return "\n".join(line.text for line in plan_lines(plan))


def test_text_and_markdown_show_those_and_json_all() -> None:
    whole = plan({}, {"schedule": "0 9 * * 1-5"})
    results = [Applied(item, "planned") for item in whole.changes]
    for text in (plan_text(whole), plan_markdown(whole, results)):
        assert "schedule" in text
        assert "action." not in text
    fields = [diff["field"] for diff in document(whole, results)["changes"][0]["diff"]]
    assert "action.details" in fields
    assert "action.args[0].times.calendars[0]" in fields


def test_many_calendars_that_differ_stand_together() -> None:
    """Clock changes of three years, each its own calendar and moments."""
    before, after = ({"schedule": f"{minute} 2 * * *", "timezone": "Europe/Berlin"} for minute in (30, 31))
    whole = change(before, after)
    assert sum(item.field.startswith("times.calendars[") for item in whole.diff) > 3
    calendars, intervals = worth_showing(whole)
    assert (calendars.field, intervals.field) == ("times.calendars", "times.intervals")
    assert len(calendars.before) == len(calendars.after) > 3
    assert calendars.before[0].startswith("0 30 2 ")
    assert calendars.after[0].startswith("0 31 2 ")


def test_of_many_moments_only_those_that_go_and_come_are_shown() -> None:
    """The nights of spring run at 03:00 either way."""
    before, after = ({"schedule": f"{minute} 2 * * *", "timezone": "Europe/Berlin"} for minute in (30, 31))
    (intervals,) = [item for item in worth_showing(change(before, after)) if item.field == "times.intervals"]
    gone, come = ({each["every"] for each in side} for side in (intervals.before, intervals.after))
    assert not gone & come
    assert {datetime.fromtimestamp(each, UTC).strftime("%H:%M") for each in gone} == {"00:30"}, (
        "02:30 of the first pass"
    )
    assert {datetime.fromtimestamp(each, UTC).strftime("%H:%M") for each in come} == {"00:31"}


def test_what_changed_its_order_alone_is_shown_as_it_is() -> None:
    one, two = ({"schedule": entries} for entries in (["0 6 * * *", "0 9 * * 1"], ["0 9 * * 1", "0 6 * * *"]))
    assert {item.field for item in worth_showing(change(one, two))} == {"times.calendars[0]", "times.calendars[1]"}


def test_what_others_wrote_cannot_speak_to_the_terminal() -> None:
    """A name or a text on the server with an escape sequence in it, or a line of its own."""
    there = observed(compile_job(job(), "billing", "production", NOW))
    evil = replace(there, id="\x1b[2Jx\ny", action=replace(there.action, summary="\x1b]0;x\x07\u202e"))
    whole = make_plan("billing/production", {}, {evil.id: evil}, NOW)
    drift = make_plan(
        "billing/production",
        {there.id: compile_job(job(), "billing", "production", NOW)},
        {there.id: replace(evil, id=there.id)},
        NOW,
    )
    for text in (plan_text(whole), plan_text(drift)):
        assert all(char.isprintable() or char == "\n" for char in text)
    assert plan_text(whole).startswith("- delete ␣[2Jx␣y\n")
    assert "description: ␣]0;x␣␣ → " in plan_text(drift)
