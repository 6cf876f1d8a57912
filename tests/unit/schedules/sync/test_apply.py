"""Carrying a plan out, on the twin in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from schedules.model import Calendar, DesiredSchedule, ObservedSchedule, Policies, Range, RuntimeState, Times
from schedules.plan.plan import Applied, Plan, Rules, make_plan
from schedules.sync.apply import Applier
from schedules.sync.audit import Audit
from schedules.testing import Fault, Habits, SchedulesInMemory
from tests.factories import NOW, desired

OWNER = "billing/production"
AUDIT = Audit("ann@host", "1a2b3c4")
NINE = Times("Europe/Berlin", (Calendar(hour=(Range(9, 9),)),))
ONE = desired("one")
CHANGED = replace(ONE, times=NINE)


async def having(*schedules: object, habits: Habits | None = None) -> SchedulesInMemory:
    twin = SchedulesInMemory(habits)
    for schedule in schedules:
        await twin.create(schedule)  # type: ignore[arg-type]  # factories
    return twin


def plan_of(twin: SchedulesInMemory, *wanted: object, rules: Rules | None = None) -> Plan:
    observed = {name: twin.look(name) for name in twin.kept}
    by_id = {schedule.id: schedule for schedule in wanted}  # type: ignore[attr-defined]  # factories
    return make_plan(OWNER, by_id, observed, NOW, rules=rules or Rules())  # type: ignore[arg-type]  # all are there


async def apply(plan: Plan, twin: SchedulesInMemory, *, replans: int = 3) -> list[Applied]:
    applier = Applier(plan, twin, AUDIT, replans=replans, read_back_waits=[0] * 8)
    return await applier.apply(asyncio.Event(), lambda _: None)


async def test_an_update_that_is_taken_late_is_waited_for() -> None:
    twin = await having(ONE, habits=Habits(update_lag=4, attribute_lag=2))
    (item,) = await apply(plan_of(twin, CHANGED), twin)
    assert item.result == "applied"
    assert twin.kept["one"].times == NINE
    assert twin.calls.count("update") == 1


async def test_an_update_that_never_shows_is_a_failure() -> None:
    twin = await having(ONE, habits=Habits(update_lag=1000))
    (item,) = await apply(plan_of(twin, CHANGED), twin, replans=0)
    assert item.result == "failed"
    assert "run the sync again" in item.error


async def test_a_race_that_is_lost_is_planned_again_from_what_there_is_now() -> None:
    twin = await having(ONE)
    plan = plan_of(twin, CHANGED)
    twin.edit("one", policies=Policies("allow_all", 60), state=RuntimeState(True, "ask Ann"))
    (item,) = await apply(plan, twin)
    assert item.result == "applied"
    assert [diff.field for diff in item.change.diff] == [
        "times.timezone",
        "times.calendars[0]",
        "policies.overlap",
        "policies.catchup_window",
    ]
    assert (twin.kept["one"].times, twin.kept["one"].policies) == (CHANGED.times, CHANGED.policies)
    assert twin.kept["one"].state == RuntimeState(True, "ask Ann")


async def test_a_race_that_is_lost_again_and_again_is_reported() -> None:
    twin = await having(ONE)
    plan = plan_of(twin, CHANGED)
    busy = after_each(twin, "update", lambda: twin.edit("one", times=Times("UTC", ONE.times.calendars)))
    (item,) = await apply(plan, busy)
    assert item.result == "failed"
    assert "planned again 3 times" in item.error
    assert twin.calls.count("update") == 4


@pytest.mark.parametrize("replans", [0, 3])
async def test_on_v2_a_trigger_during_a_sync_hinders_no_update(replans: int) -> None:
    twin = await having(ONE, habits=Habits(v2=True))
    plan = plan_of(twin, CHANGED)
    twin.trigger("one")
    triggers = iter(range(3))
    busy = after_each(twin, "describe", lambda: twin.trigger("one") if next(triggers, None) is not None else None)
    (item,) = await apply(plan, busy, replans=replans)
    assert (item.result, item.change) == ("applied", plan.changes[0])
    assert twin.kept["one"].times == NINE


async def test_on_v2_an_update_that_is_always_overtaken_fails_in_the_end() -> None:
    twin = await having(ONE, habits=Habits(v2=True))
    plan = plan_of(twin, CHANGED)
    (item,) = await apply(plan, after_each(twin, "describe", lambda: twin.trigger("one")))
    assert item.result == "failed"
    assert "run the sync again" in item.error


async def test_on_v2_an_update_whose_answer_was_lost_and_that_was_sent_again_is_applied() -> None:
    twin = await having(ONE, habits=Habits(v2=True))
    plan = plan_of(twin, CHANGED)
    first = iter([True])

    async def sent_twice(desired: DesiredSchedule, observed: ObservedSchedule, note: str | None = None) -> None:
        if next(first, False):
            await SchedulesInMemory.update(twin, desired, observed, note)
        await SchedulesInMemory.update(twin, desired, observed, note)

    twin.update = sent_twice  # type: ignore[method-assign]
    (item,) = await apply(plan, twin)
    assert item.result == "applied"


async def test_a_reviewed_plan_is_not_planned_again() -> None:
    twin = await having(ONE)
    plan = plan_of(twin, CHANGED)
    twin.edit("one", policies=Policies("allow_all", 60))
    (item,) = await apply(plan, twin, replans=0)
    assert item.result == "failed"
    assert twin.kept["one"].policies.overlap == "allow_all"


async def test_a_create_that_finds_the_same_schedule_there_is_no_change() -> None:
    twin = await having()
    plan = plan_of(twin, ONE)
    await twin.create(ONE)
    (item,) = await apply(plan, twin)
    assert item.result == "unchanged"


async def test_a_create_that_finds_another_schedule_of_ours_there_becomes_an_update() -> None:
    twin = await having()
    plan = plan_of(twin, CHANGED)
    await twin.create(ONE)
    (item,) = await apply(plan, twin)
    assert (item.change.verb, item.result) == ("update", "applied")
    assert twin.kept["one"].times == NINE


async def test_a_create_that_finds_a_foreign_schedule_there_is_a_conflict() -> None:
    twin = await having()
    plan = plan_of(twin, ONE)
    twin.put(replace(CHANGED, owner="payroll/p"), {"TickwrightOwner": "payroll/p"})
    (item,) = await apply(plan, twin)
    assert item.result == "failed"
    assert "payroll/p" in item.error
    assert "--adopt" in item.error
    assert twin.kept["one"].times == NINE


async def test_what_was_taken_over_by_somebody_since_is_not_deleted() -> None:
    twin = await having(ONE)
    plan = plan_of(twin)
    twin.kept["one"].attributes = {"TickwrightOwner": "payroll/p"}
    (item,) = await apply(plan, twin)
    assert item.result == "unchanged"
    assert "one" in twin.kept


async def test_what_somebody_else_deleted_first_counts_as_deleted() -> None:
    twin = await having(ONE)
    plan = plan_of(twin)
    twin.remove("one")
    assert [item.result for item in await apply(plan, twin)] == ["applied"]


async def test_an_update_of_what_was_deleted_meanwhile_makes_it_again() -> None:
    twin = await having(ONE, habits=Habits(update_lag=1))
    plan = plan_of(twin, CHANGED)
    gone = after_each(twin, "update", lambda: twin.remove("one"))
    (item,) = await apply(plan, gone)
    assert (item.change.verb, item.result) == ("create", "applied")


@pytest.mark.parametrize("done", [False, True])
async def test_one_failure_hides_and_stops_no_other(done: bool) -> None:
    wanted = [desired(f"job-{number}") for number in range(30)]
    twin = await having()
    plan = plan_of(twin, *wanted)
    calls = iter(range(1000))
    twin.fault_of = lambda name: Fault(done=done) if name == "create" and next(calls) == 7 else None
    results = await apply(plan, twin)
    assert [item.change.job for item in results] == [change.job for change in plan.changes]
    assert sorted(item.result for item in results) == ["applied"] * 29 + ["failed"]
    (failed,) = (item for item in results if item.result == "failed")
    assert "UNAVAILABLE" in failed.error


async def test_once_the_server_has_stayed_away_from_one_change_no_more_is_begun() -> None:
    wanted = [desired(f"job-{number:02}") for number in range(40)]
    twin = await having()
    plan, calls = plan_of(twin, *wanted), iter(range(1000))
    twin.fault_of = lambda name: Fault(away=True, done=True) if name == "create" and next(calls) >= 5 else None
    told: list[Applied] = []
    results = await Applier(plan, twin, AUDIT).apply(asyncio.Event(), told.append)
    assert [item.change.job for item in results] == [change.job for change in plan.changes]
    failed = [item for item in results if item.result == "failed"]
    tried = [item for item in failed if item.error != "not tried: the server is away"]
    assert len(results) - len(failed) == 5
    assert 1 <= len(tried) <= 10
    assert len(twin.kept) == 5 + len(tried), "what was not tried is not made"
    assert all("it may have been done all the same" in item.error for item in tried)


async def test_an_update_that_could_not_be_read_back_is_told_to_be_made_perhaps() -> None:
    twin = await having(ONE)
    plan = plan_of(twin, CHANGED)
    twin.fault_of = lambda name: Fault(away=True) if "update" in twin.calls and name == "describe" else None
    (item,) = await apply(plan, twin)
    assert item.error.startswith("update: the server answered UNAVAILABLE")
    assert "it may have been done all the same" in item.error


async def test_a_change_that_did_not_get_as_far_as_writing_is_not_told_to_be_made() -> None:
    twin = await having(ONE)
    plan = plan_of(twin, CHANGED)
    twin.fault_of = lambda name: Fault(away=True) if name == "describe" else None
    (item,) = await apply(plan, twin)
    assert item.error == "describe: the server answered UNAVAILABLE: injected, not done"


async def test_once_stopped_nothing_more_is_begun() -> None:
    wanted = [desired(f"job-{number:02}") for number in range(40)]
    twin, stop = await having(), asyncio.Event()
    results = await Applier(plan_of(twin, *wanted), twin, AUDIT).apply(stop, lambda _: stop.set())
    done = [item.result for item in results]
    assert 1 <= done.count("applied") <= 10
    assert done.count("planned") == 40 - done.count("applied")
    assert len(twin.kept) == done.count("applied")


async def test_the_note_says_who_it_was_where_nobody_else_wrote_one() -> None:
    twin = await having(ONE, desired("two"))
    twin.edit("two", state=RuntimeState(note="ask Ann"))
    await apply(plan_of(twin, CHANGED, replace(desired("two"), times=NINE), desired("three")), twin)
    notes = {name: kept.state.note for name, kept in twin.kept.items()}
    assert notes["two"] == "ask Ann"
    assert notes["one"].startswith("Tickwright: updated by ann@host at 20")
    assert notes["one"].endswith(", commit 1a2b3c4")
    assert notes["three"].startswith("Tickwright: created by ann@host")
    await apply(plan_of(twin, replace(ONE, policies=Policies("allow_all", 60))), twin)
    assert twin.kept["one"].state.note.startswith("Tickwright: updated")


async def test_a_schedule_is_looked_at_again_before_it_is_updated() -> None:
    """The token of a schedule that was deleted and made anew is that of the old one."""
    twin = await having(ONE)
    plan = plan_of(twin, CHANGED)
    twin.remove("one")
    twin.put(replace(ONE, owner="payroll/p"), {"TickwrightOwner": "payroll/p"})
    applier = Applier(plan, twin, AUDIT, read_back_waits=[0] * 8)
    (item,) = await applier.apply(asyncio.Event(), lambda _: None)
    assert item.result == "failed"
    assert "payroll/p" in item.error
    assert twin.kept["one"].times == ONE.times


async def test_an_update_of_what_is_gone_already_makes_it_again() -> None:
    twin = await having(ONE)
    plan = plan_of(twin, CHANGED)
    twin.remove("one")
    (item,) = await apply(plan, twin)
    assert (item.change.verb, item.result) == ("create", "applied")


def after_each(twin: SchedulesInMemory, name: str, act: Callable[[], object]) -> SchedulesInMemory:
    """The same twin, in which somebody acts right after each call of that name."""

    def meddle(called: str) -> None:
        if called != name and twin.calls[-2:-1] == [name] and "one" in twin.kept:
            act()

    twin.fault_of = meddle
    return twin
