"""What planning and applying rely on, of the server and of its twin."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from schedules.errors import OvertakenError, ServerError
from schedules.model import Action, Calendar, DesiredSchedule, Interval, ObservedSchedule, Policies, Range, Times
from tests.contract.world import World
from tests.factories import desired

NINE = Times("Europe/Berlin", (Calendar(hour=(Range(9, 9),)),))


async def made(world: World, schedule: DesiredSchedule) -> ObservedSchedule:
    assert await world.schedules.create(schedule)
    return await seen(world, schedule.id)


async def seen(world: World, schedule_id: str) -> ObservedSchedule:
    observed = await world.schedules.describe(schedule_id)
    assert observed is not None
    return observed


async def until_version_is_not(world: World, before: ObservedSchedule) -> ObservedSchedule:
    while (now := await seen(world, before.id)).version == before.version:
        pass
    return now


async def test_there_is_nothing_before_it_is_made_and_nothing_once_it_is_deleted(world: World, name: str) -> None:
    assert await world.schedules.describe(name) is None
    await made(world, desired(name))
    await world.schedules.delete(name)
    assert await world.schedules.describe(name) is None
    await world.schedules.delete(name)


async def test_a_name_that_is_taken_is_left_as_it_is(world: World, name: str) -> None:
    before = await made(world, desired(name))
    assert not await world.schedules.create(desired(name, times=NINE))
    assert await seen(world, name) == before


async def test_a_create_leaves_the_note_and_the_marks(world: World, name: str) -> None:
    schedule = desired(name, owner=f"{name}/p", paused=True)
    assert await world.schedules.create(schedule, "by Ann")
    observed = await seen(world, name)
    assert (observed.state.note, observed.state.paused, observed.owner) == ("by Ann", True, f"{name}/p")
    assert observed.fingerprint is not None


async def test_an_update_keeps_what_an_operator_set(world: World, name: str) -> None:
    await made(world, desired(name))
    await world.pause(name, "ask Ann")
    before = await seen(world, name)
    await world.schedules.update(desired(name, times=NINE), before)
    now = await until_version_is_not(world, before)
    assert (now.times, now.state.paused, now.state.note) == (NINE, True, "ask Ann")


async def test_a_trigger_is_seen_as_running_and_is_no_change_of_the_schedule(world: World, name: str) -> None:
    before = await made(world, desired(name))
    await world.trigger(name)
    while not (triggered := await seen(world, name)).activity.running:
        pass
    assert triggered == before
    await world.schedules.update(desired(name, times=NINE), triggered)
    now = await until_version_is_not(world, triggered)
    assert (now.times, now.activity.running) == (NINE, triggered.activity.running)


async def test_a_trigger_overtakes_an_update_on_v2_only(world: World, name: str, v2: bool) -> None:
    before = await made(world, desired(name))
    await world.trigger(name)
    while not (await seen(world, name)).activity.running:
        pass
    with pytest.raises(OvertakenError) if v2 else nullcontext():
        await world.schedules.update(desired(name, times=NINE), before)


async def test_an_update_sets_the_pause_and_the_note_that_it_is_told(world: World, name: str) -> None:
    await made(world, desired(name))
    await world.pause(name, "ask Ann")
    before = await seen(world, name)
    await world.schedules.update(desired(name, paused=False), before, "by Bob")
    now = await until_version_is_not(world, before)
    assert (now.state.paused, now.state.note) == (False, "by Bob")


async def test_an_update_that_lost_a_race_is_dropped_without_a_word_or_refused(
    world: World, name: str, v2: bool
) -> None:
    before = await made(world, desired(name))
    await world.edit(name, NINE)
    edited = await seen(world, name)
    with pytest.raises(OvertakenError) if v2 else nullcontext():
        await world.schedules.update(desired(name, policies=Policies("allow_all", 60)), before)
    await world.schedules.update(desired(name, times=NINE, policies=Policies("buffer_one", 60)), edited)
    now = await until_version_is_not(world, edited)
    assert now.policies.overlap == "buffer_one"


@pytest.mark.parametrize("token", [b"", b"garbage", bytes(8)])
async def test_a_token_that_is_none_hinders_nothing(world: World, name: str, token: bytes, v2: bool) -> None:
    before = await made(world, desired(name))
    with pytest.raises(OvertakenError) if v2 and token else nullcontext():
        await world.schedules.update(desired(name, times=NINE), replace(before, version=token))
    if v2 and token:
        return
    assert (await until_version_is_not(world, before)).times == NINE


async def test_an_update_of_what_is_gone_is_refused(world: World, name: str) -> None:
    before = await made(world, desired(name))
    await world.schedules.delete(name)
    with pytest.raises(ServerError) as refused:
        await world.schedules.update(desired(name, times=NINE), before)
    assert refused.value.code == "NOT_FOUND"


async def test_an_update_brings_the_marks_up_to_date(world: World, name: str) -> None:
    await world.foreign(desired(name, action=Action("Theirs", "theirs", ())))
    before = await seen(world, name)
    assert (before.owner, before.fingerprint) == (None, None)
    await world.schedules.update(desired(name, owner=f"{name}/p"), before)
    while (now := await seen(world, name)).owner is None:
        pass
    assert now.owner == f"{name}/p"
    assert now.fingerprint is not None


async def test_list_shows_the_owners_schedules_only(world: World, name: str) -> None:
    await world.schedules.create(desired(f"{name}-1", owner=f"{name}/p"))
    await world.schedules.create(desired(f"{name}-2", owner=f"{name}/q"))
    (entry,) = await world.listed(f"{name}/p", 1)
    assert (entry.id, entry.owner, entry.paused, entry.workflow_type) == (
        f"{name}-1",
        f"{name}/p",
        False,
        "JobWorkflow",
    )
    assert entry.fingerprint == (await seen(world, f"{name}-1")).fingerprint


async def test_list_shows_ten_entries_of_each_field(world: World, name: str) -> None:
    hours = tuple(Calendar(hour=(Range(hour, hour),)) for hour in range(12))
    times = Times("UTC", hours, tuple(Interval(3600 + each) for each in range(12)), hours)
    await world.schedules.create(desired(name, owner=f"{name}/p", times=times))
    (entry,) = await world.listed(f"{name}/p", 1)
    assert entry.times == Times("UTC", hours[:10], times.intervals[:10], hours[:10])


async def test_list_shows_a_hand_edit_and_a_pause(world: World, name: str) -> None:
    await world.schedules.create(desired(name, owner=f"{name}/p"))
    await world.edit(name, NINE)
    await world.pause(name, "ask Ann")
    while (entry := (await world.listed(f"{name}/p", 1))[0]).times != NINE or not entry.paused:
        pass


async def test_our_search_attributes_are_known(world: World) -> None:
    assert await world.schedules.missing_attributes() == ()
