"""What the watchdog makes of each state of a job on a real server; its clock stands a day ahead of the server's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.testing import ActivityEnvironment

from activities.contract import OUTCOME_ATTRIBUTE, TimesRequest
from activities.notices.contract import Target
from activities.watchdog.contract import Look, Seen, WatchdogRequest, WatchedJob, WatchState
from activities.watchdog.missed import WatchActivities
from tests.servers import DevServer
from worker.times import previous_occurrence

DAY = 86_400
EPOCH = datetime.fromtimestamp(0, UTC)
DUE = (datetime.now(UTC) + timedelta(days=1)).replace(minute=0, second=0, microsecond=0)
"""The job's next time, most of a day away. The schedules are made before it, and the watchdog looks after it."""
NOW = DUE + timedelta(minutes=10)


@pytest.fixture(scope="module")
def attribute() -> SearchAttributeKey[str]:
    return SearchAttributeKey.for_keyword(OUTCOME_ATTRIBUTE)


async def look(client: Client, job: str, state: WatchState | None = None) -> Seen:
    """One look that knows all up to five minutes before the job's time, and was made a minute ago."""
    known = state or WatchState(text(DUE - timedelta(minutes=5)), text(NOW - timedelta(minutes=1)))
    watched = WatchedJob(job, TimesRequest("UTC", intervals=[[DAY, int(DUE.timestamp()) % DAY]]), 300.0, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    activities = WatchActivities(client, previous_occurrence, now=lambda: NOW)
    return await ActivityEnvironment().run(activities.look_for_missed, Look(request, known))


def text(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


async def reasons(client: Client, job: str) -> list[str]:
    seen = await look(client, job)
    assert all(each.scheduled_at == text(DUE) for each in seen.missed)
    return [each.reason for each in seen.missed]


@pytest.fixture
async def job(client: Client, name: str) -> AsyncIterator[str]:
    """A job's schedule that will not fire before the test has ended."""
    await schedule(client, name)
    yield name
    await client.get_schedule_handle(name).delete()


async def schedule(
    client: Client,
    name: str,
    every: timedelta = timedelta(days=1),
    policy: SchedulePolicy | None = None,
    **state: Any,
) -> None:
    action = ScheduleActionStartWorkflow("Nothing", id=name, task_queue=f"{name}-nobody")
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every, (DUE - EPOCH) % every)])
    await client.create_schedule(
        name, Schedule(action=action, spec=spec, policy=policy or SchedulePolicy(), state=ScheduleState(**state))
    )


async def run(client: Client, job: str, **options: Any) -> Any:
    return await client.start_workflow("Nothing", id=f"{job}-{text(DUE)}", task_queue=f"{job}-nobody", **options)


async def test_a_schedule_that_started_nothing(client: Client, job: str) -> None:
    assert await reasons(client, job) == ["its schedule has started no run; it may have been paused then"]


async def test_a_run_that_began_is_not_missed_however_it_ended(client: Client, job: str) -> None:
    await (await run(client, job)).terminate()
    assert await reasons(client, job) == []


async def test_a_run_that_waits_for_a_worker(client: Client, job: str) -> None:
    await run(client, job)
    [reason] = await reasons(client, job)
    assert reason.startswith(f"the run {job}-{text(DUE)} has waited for a worker since ")
    assert reason.endswith(f"; is one running for the task queue `{job}-nobody`?")


async def test_a_run_that_did_nothing_since_it_was_late(
    server: DevServer, client: Client, job: str, attribute: SearchAttributeKey[str]
) -> None:
    kinds = {OUTCOME_ATTRIBUTE: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD}
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds)
    )
    marks = TypedSearchAttributes([SearchAttributePair(attribute, "too_late")])
    await (await run(client, job, search_attributes=marks)).terminate()
    [reason] = await reasons(client, job)
    assert reason.startswith("it could start only at 20")
    assert reason.endswith(", so it ended as too_late")


async def test_a_schedule_that_is_not_there(client: Client, name: str) -> None:
    assert await reasons(client, name) == ["its schedule is missing; a sync creates it again"]


async def test_a_schedule_with_no_actions_left(client: Client, name: str) -> None:
    await schedule(client, name, every=timedelta(seconds=1), limited_actions=True, remaining_actions=1)
    handle = client.get_schedule_handle(name)
    while (await handle.describe()).schedule.state.remaining_actions:  # noqa: ASYNC110 - the server tells nobody
        await asyncio.sleep(0.1)
    assert await reasons(client, name) == ["its schedule has no remaining actions"]


async def test_a_paused_schedule_is_told_an_hour_later(client: Client, name: str) -> None:
    await schedule(client, name, paused=True, note="by hand")
    seen = await look(client, name)
    assert (seen.missed, seen.state.missing, seen.state.paused) == ([], {name: text(DUE)}, [name])
    an_hour_before = WatchState(
        text(NOW), text(NOW - timedelta(minutes=1)), {name: text(NOW - timedelta(hours=1))}, [], [name]
    )
    [told] = (await look(client, name, an_hour_before)).missed
    assert told.reason == "its schedule is paused: by hand"


async def test_a_time_before_the_schedule_was_made_is_not_missed(client: Client, job: str) -> None:
    yesterday = DUE - timedelta(days=1)
    watched = WatchedJob(job, TimesRequest("UTC", intervals=[[DAY, int(DUE.timestamp()) % DAY]]), 300.0, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    now = yesterday + timedelta(minutes=10)
    state = WatchState(text(yesterday - timedelta(minutes=5)), text(now))
    activities = WatchActivities(client, previous_occurrence, now=lambda: now)
    assert (await ActivityEnvironment().run(activities.look_for_missed, Look(request, state))).missed == []


async def test_a_run_that_was_left_out_since_one_before_it_still_waits_for_a_worker(client: Client, job: str) -> None:
    await client.get_schedule_handle(job).trigger()
    handle = client.get_schedule_handle(job)
    while not (await handle.describe()).info.running_actions:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.05)
    [reason] = await reasons(client, job)
    assert "has waited for a worker since" in reason
    assert f"the run {job}-{text(DUE)}" not in reason


@pytest.mark.parametrize("after", [0.5, -0.5], ids=["before the look began", "while it went on"])
async def test_a_run_that_was_started_a_moment_ago_does_not_wait_yet_and_shows_that_the_job_runs(
    client: Client, job: str, after: float
) -> None:
    """The time that is asked about was left out by overlap, and the next one has just been started."""
    await asyncio.sleep(3)  # The server has the schedule's age from its own clock.
    handle = client.get_schedule_handle(job)
    await handle.trigger()
    while not (running := (await handle.describe()).info.running_actions):  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.05)
    [action] = running
    assert isinstance(action, ScheduleActionExecutionStartWorkflow)
    started = (await client.get_workflow_handle(action.workflow_id).describe()).start_time
    now = started + timedelta(seconds=after)
    # So that no time that is asked about is the second of the run itself, however long its start took.
    grace = 1.5 + (started - datetime.fromisoformat(action.workflow_id.removeprefix(f"{job}-"))).total_seconds()
    watched = WatchedJob(job, TimesRequest("UTC", intervals=[[1, 0]]), grace, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    activities = WatchActivities(client, previous_occurrence, now=lambda: now)
    state = WatchState(text(now - timedelta(seconds=3)), text(now))
    assert (await ActivityEnvironment().run(activities.look_for_missed, Look(request, state))).missed == []


async def test_the_first_look_only_begins(client: Client, job: str) -> None:
    seen = await look(client, job, WatchState())
    assert seen == Seen(WatchState(text(NOW), text(NOW)))


async def test_the_first_look_after_an_outage_waits_for_late_runs(client: Client, job: str) -> None:
    state = WatchState(text(DUE - timedelta(hours=1)), text(DUE - timedelta(hours=1)))
    seen = await look(client, job, state)
    assert seen == Seen(WatchState(state.looked_at, text(NOW)))
    assert [each.scheduled_at for each in (await look(client, job, seen.state)).missed] == [text(DUE)]


async def test_a_time_left_out_by_overlap_is_not_missed_where_the_next_run_began_during_the_look(
    client: Client, name: str
) -> None:
    """The look knows the time at which it began; the run that held the time back has ended, and another has begun since."""
    await schedule(client, name, every=timedelta(seconds=2))
    handle = client.get_schedule_handle(name)
    while (info := (await handle.describe()).info).num_actions_skipped_overlap < 2:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.1)
    first = info.recent_actions[0]
    assert isinstance(first.action, ScheduleActionExecutionStartWorkflow)
    now = first.started_at + timedelta(seconds=4)
    await client.get_workflow_handle(first.action.workflow_id).terminate()
    while (await handle.describe()).info.num_actions < 2:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.1)
    watched = WatchedJob(name, TimesRequest("UTC", intervals=[[2, 0]]), 1.0, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    state = WatchState(text(now - timedelta(seconds=2)), text(now))
    activities = WatchActivities(client, previous_occurrence, now=lambda: now)
    seen = await ActivityEnvironment().run(activities.look_for_missed, Look(request, state))
    await handle.delete()
    assert seen.missed == []
    assert seen.state.missing == {}


async def test_a_run_that_goes_on_excuses_nothing_where_overlap_holds_nothing_back(client: Client, name: str) -> None:
    await schedule(client, name, policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.ALLOW_ALL))
    handle = client.get_schedule_handle(name)
    await handle.trigger(overlap=ScheduleOverlapPolicy.SKIP)
    while not (await handle.describe()).info.running_actions:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.05)
    assert await reasons(client, name) == ["its schedule has started no run; it may have been paused then"]


async def test_a_run_that_began_a_moment_after_its_time_has_waited_as_long_as_that(client: Client, name: str) -> None:
    """A look exactly at the end of the grace does not take such a run for one that has just begun."""
    at = datetime.now(UTC).replace(microsecond=0)
    await client.start_workflow("Nothing", id=f"{name}-{text(at)}", task_queue=f"{name}-nobody")
    now = at + timedelta(minutes=5)
    watched = WatchedJob(name, TimesRequest("UTC", intervals=[[1, 0]]), 300.0, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    state = WatchState(text(now - timedelta(minutes=1)), text(now))
    activities = WatchActivities(client, previous_occurrence, now=lambda: now)
    seen = await ActivityEnvironment().run(activities.look_for_missed, Look(request, state))
    assert [each.scheduled_at for each in seen.missed] == [text(at)]
