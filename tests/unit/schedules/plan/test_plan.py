"""Desired × observed → plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from schedules.errors import UnsafePlanError
from schedules.model import Action, DesiredSchedule, ObservedSchedule, Policies, RuntimeState, Times, Unsaid
from schedules.plan.differences import FieldDiff
from schedules.plan.plan import Plan, Rules
from schedules.plan.plan import make_plan as make_plan_at
from tests.factories import EIGHT_ON_WEEKDAYS, NOW, desired, observed

OWNER = "billing/production"


def make_plan(
    owner: str, desired: Mapping[str, DesiredSchedule], observed: Mapping[str, ObservedSchedule], **rest: Any
) -> Plan:
    return make_plan_at(owner, desired, observed, NOW, **rest)


def verbs(plan: Plan) -> list[tuple[str, str]]:
    return [(change.verb, change.job) for change in plan.changes]


def test_what_is_in_sync_is_no_change() -> None:
    one = desired()
    plan = make_plan(OWNER, {one.id: one}, {one.id: observed(one)})
    assert (plan.changes, plan.unchanged) == ((), 1)


def test_changes_are_in_the_order_of_job_names() -> None:
    new, old, drifted = desired("m"), desired("z"), desired("a")
    server = {"z": observed(old), "a": observed(replace(drifted, policies=Policies("allow_all", 3600)))}
    plan = make_plan(OWNER, {"m": new, "a": drifted}, server)
    assert verbs(plan) == [("update", "a"), ("create", "m"), ("delete", "z")]


def test_a_diff_names_the_field_and_both_values() -> None:
    one = desired()
    changed = replace(one, times=Times("Europe/Berlin", (EIGHT_ON_WEEKDAYS,)), policies=Policies("buffer_one", 3600))
    plan = make_plan(OWNER, {one.id: changed}, {one.id: observed(one)})
    assert plan.changes[0].diff == (
        FieldDiff("times.timezone", "America/New_York", "Europe/Berlin"),
        FieldDiff("policies.overlap", "skip", "buffer_one"),
    )


def test_a_diff_reaches_into_the_arguments_of_the_action() -> None:
    one = desired(action=Action("JobWorkflow", "q", ({"steps": [{"timeout": 60.0, "params": {}}]},)))
    other = Action("JobWorkflow", "q", ({"steps": [{"timeout": 90.0, "params": {}}]},))
    plan = make_plan(OWNER, {one.id: one}, {one.id: observed(one, action=other)})
    assert plan.changes[0].diff == (FieldDiff("action.args[0].steps[0].timeout", 90.0, 60.0),)


@pytest.mark.parametrize("state", [RuntimeState(paused=True), RuntimeState(note="ask Ann"), RuntimeState(False, "", 3)])
def test_what_an_operator_set_by_hand_is_no_difference(state: RuntimeState) -> None:
    one = desired()
    assert make_plan(OWNER, {one.id: one}, {one.id: observed(one, state=state)}).changes == ()


def test_a_pause_that_the_spec_declares_is_put_right() -> None:
    one = desired(paused=True)
    plan = make_plan(OWNER, {one.id: one}, {one.id: observed(one)})
    assert plan.changes[0].diff == (FieldDiff("paused", False, True),)


def test_a_field_that_no_spec_can_express_is_drift() -> None:
    one = desired()
    plan = make_plan(OWNER, {one.id: one}, {one.id: observed(one, other=(Unsaid("spec.timezone_data", "AAAA"),))})
    assert plan.changes[0].diff[0].field == "spec.timezone_data"


@pytest.mark.parametrize("mark", [None, "0" * 32])
def test_a_schedule_that_lacks_the_mark_of_its_last_sync_gets_it(mark: str | None) -> None:
    """Without it every later sync would have to describe it."""
    one = desired()
    attributes = {"TickwrightOwner": one.owner} | ({"TickwrightHash": mark} if mark else {})
    plan = make_plan(OWNER, {one.id: one}, {one.id: observed(one, search_attributes=attributes)})
    assert [(diff.field, diff.before) for diff in plan.changes[0].diff] == [("fingerprint", mark)]


def test_a_schedule_of_another_owner_is_a_conflict_until_adopted() -> None:
    one = desired()
    server = {one.id: observed(one, search_attributes={"TickwrightOwner": "payroll/production"})}
    (change,) = make_plan(OWNER, {one.id: one}, server).changes
    assert "payroll/production" in change.conflict
    assert "--adopt" in change.conflict
    (adopted,) = make_plan(OWNER, {one.id: one}, server, rules=Rules(adopt=True)).changes
    assert adopted.conflict == ""


def test_a_schedule_of_another_owner_is_never_deleted() -> None:
    one = desired()
    server = {one.id: observed(one, search_attributes={})}
    assert make_plan(OWNER, {}, server).changes == ()


def test_without_pruning_nothing_is_deleted() -> None:
    one = desired()
    assert make_plan(OWNER, {}, {one.id: observed(one)}, rules=Rules(prune=False)).changes == ()


def test_a_job_that_is_over_is_not_made_again_and_not_deleted() -> None:
    one = desired()
    plan = make_plan(OWNER, {one.id: one}, {}, over=frozenset({one.id}))
    assert (plan.changes, plan.unchanged, plan.over) == ((), 0, (one.id,))
    assert make_plan(OWNER, {one.id: one}, {one.id: observed(one)}, over=frozenset({one.id})).changes == ()


def test_a_job_that_is_over_is_changed_while_its_schedule_is_there() -> None:
    one = desired()
    there = observed(replace(one, policies=Policies("allow_all", 60)))
    [change] = make_plan(OWNER, {one.id: one}, {one.id: there}, over=frozenset({one.id})).changes
    assert change.verb == "update"


def deletions(count: int, owned: int) -> Plan:
    names = [f"job-{number}" for number in range(owned)]
    kept = {name: desired(name) for name in names[count:]}
    return make_plan(OWNER, kept, {name: observed(desired(name)) for name in names})


@pytest.mark.parametrize(
    ("count", "owned", "refused"),
    [(10, 10, False), (11, 11, True), (11, 37, False), (11, 36, True), (12, 40, False), (13, 40, True)],
)
def test_more_than_ten_deletions_that_are_over_30_percent_are_refused(count: int, owned: int, refused: bool) -> None:
    plan = deletions(count, owned)
    if not refused:
        plan.raise_if_unsafe(None)
        return
    with pytest.raises(UnsafePlanError, match=f"{count} of the {owned}"):
        plan.raise_if_unsafe(None)


def test_a_limit_that_is_given_decides_alone() -> None:
    deletions(11, 11).raise_if_unsafe(11)
    with pytest.raises(UnsafePlanError):
        deletions(3, 100).raise_if_unsafe(2)


@pytest.mark.parametrize(
    ("before", "after"), [(1, True), (1, 1.0), (0, False), ([1], [True]), ({"a": 0}, {"a": False})]
)
def test_what_json_tells_apart_differs_although_python_calls_it_equal(before: object, after: object) -> None:
    one = desired(action=Action("JobWorkflow", "q", ({"params": after},)))
    other = Action("JobWorkflow", "q", ({"params": before},))
    plan = make_plan(OWNER, {one.id: one}, {one.id: observed(one, action=other)})
    (found,) = plan.changes[0].diff
    assert found.field.startswith("action.args[0].params")


def test_steps_that_come_go_or_change_places_are_told_by_name() -> None:
    def of(*steps: dict[str, Any]) -> Action:
        return Action("JobWorkflow", "q", ({"steps": list(steps)},))

    export, post, audit = ({"name": name, "timeout": 60.0} for name in ("export", "post", "audit"))
    one = desired(action=of(audit, export | {"timeout": 90.0}, {"name": "tell"}))
    plan = make_plan(OWNER, {one.id: one}, {one.id: observed(one, action=of(export, post, audit))})
    assert plan.changes[0].diff == (
        FieldDiff("action.args[0].steps[export].timeout", 60.0, 90.0),
        FieldDiff("action.args[0].steps[post]", post, None),
        FieldDiff("action.args[0].steps[tell]", None, {"name": "tell"}),
        FieldDiff("action.args[0].steps in order", ["export", "post", "audit"], ["audit", "export", "tell"]),
    )


def old_watchdog(number: int = 1) -> ObservedSchedule:
    """As an earlier version called it."""
    action = Action("TickwrightWatchdog", "tickwright", ({},))
    return observed(desired(f"tickwright-watchdog-billing-production-{number}", action=action))


@pytest.mark.parametrize("prune", [True, False])
def test_a_watchdog_that_is_called_otherwise_now_is_replaced(prune: bool) -> None:
    old, new = old_watchdog(), desired("tickwright-watchdog-billing/production", action=old_watchdog().action)

    plan = make_plan(OWNER, {new.id: new}, {old.id: old}, rules=Rules(prune=prune))

    assert verbs(plan) == [("delete", old.id), ("create", new.id)]


def test_a_watchdog_of_another_owner_is_left_alone() -> None:
    theirs = replace(old_watchdog(), search_attributes={"TickwrightOwner": "billing-production/default"})

    assert verbs(make_plan(OWNER, {}, {theirs.id: theirs})) == []


def test_watchdogs_that_go_are_no_slip_of_the_hand() -> None:
    old = [old_watchdog(number) for number in range(20)]

    make_plan(OWNER, {}, {each.id: each for each in old}).raise_if_unsafe(None)
