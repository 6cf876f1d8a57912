"""What is described, and what List alone settles."""

from __future__ import annotations

from dataclasses import replace

from schedules.model import ListedSchedule, Policies, RuntimeState
from schedules.sync.observe import foreign_attributes, observe
from schedules.sync.reconcile import plan_sync
from schedules.testing import Habits, SchedulesInMemory
from tests.factories import NOW, desired

OWNER = "billing/production"
JOBS = {name: desired(name) for name in ("a", "b", "c")}


async def twin_with(*names: str, habits: Habits | None = None) -> SchedulesInMemory:
    twin = SchedulesInMemory(habits)
    for name in names:
        await twin.create(JOBS[name])
    twin.calls.clear()
    return twin


async def test_schedules_in_sync_are_not_described() -> None:
    twin = await twin_with("a", "b", "c")
    found = await observe(twin, await twin.owned(OWNER), JOBS)
    assert not found.schedules
    assert set(found.in_sync) == {"a", "b", "c"}
    assert twin.calls == ["owned"]


async def test_what_differs_in_list_is_described() -> None:
    twin = await twin_with("a", "b")
    wanted = {**JOBS, "b": replace(JOBS["b"], policies=Policies("allow_all", 60))}
    found = await observe(twin, await twin.owned(OWNER), wanted)
    assert (set(found.schedules), set(found.in_sync)) == ({"b"}, {"a"})


async def test_what_is_owned_and_not_wanted_is_described() -> None:
    twin = await twin_with("a", "b")
    found = await observe(twin, await twin.owned(OWNER), {"a": JOBS["a"]})
    assert (set(found.schedules), set(found.in_sync)) == ({"b"}, {"a"})


async def test_a_deep_look_describes_all() -> None:
    twin = await twin_with("a", "b")
    found = await observe(twin, await twin.owned(OWNER), JOBS, deep=True)
    assert (set(found.schedules), set(found.in_sync)) == ({"a", "b"}, set[str]())
    assert twin.calls.count("describe") == 3


async def test_what_list_does_not_have_is_looked_up() -> None:
    twin = await twin_with("a")
    await observe(twin, await twin.owned(OWNER), JOBS)
    assert twin.calls.count("describe") == 2


async def test_a_schedule_that_list_does_not_have_yet_is_not_made_again() -> None:
    twin = await twin_with("a", "b", "c", habits=Habits(list_lag=1000))
    plan = await plan_sync(twin, OWNER, JOBS, NOW)
    assert (plan.changes, plan.unchanged, plan.owned) == ((), 3, 3)


async def test_the_plan_is_the_same_at_both_depths_where_list_shows_all() -> None:
    twin = await twin_with("a", "b")
    twin.edit("a", state=RuntimeState(True, "ask Ann"))
    shallow, deep = [await plan_sync(twin, OWNER, JOBS, NOW, deep=deep) for deep in (False, True)]
    assert shallow == deep
    assert [(change.verb, change.job) for change in shallow.changes] == [("create", "c")]


async def test_a_namespace_without_our_search_attributes_owns_nothing() -> None:
    twin = SchedulesInMemory(attributes=())
    plan = await plan_sync(twin, OWNER, JOBS, NOW)
    assert [change.verb for change in plan.changes] == ["create"] * 3


async def test_what_others_have_is_an_update_in_every_plan() -> None:
    """A sync and its `--check` must count alike: List by owner does not show what belongs to nobody."""
    twin = await twin_with("a")
    await twin.create(replace(JOBS["b"], owner="other/default"))
    plan = await plan_sync(twin, OWNER, JOBS, NOW)
    assert [(change.verb, change.job) for change in plan.changes] == [("update", "b"), ("create", "c")]


def test_search_attributes_that_no_spec_has_are_named() -> None:
    ours = {"TickwrightOwner": OWNER, "TickwrightHash": "1"}
    listed = [
        ListedSchedule(name, JOBS["a"].times, "W", search_attributes={**ours, **more})
        for name, more in {
            "a": {},
            "e": {"Team": "x"},
            "b": {"Team": "y"},
            "c": {"Team": "y"},
            "d": {"Team": "y"},
        }.items()
    ]
    assert foreign_attributes(listed) == [
        "the search attribute Team of b, c, d and 1 more is in no spec; a sync keeps it"
    ]
