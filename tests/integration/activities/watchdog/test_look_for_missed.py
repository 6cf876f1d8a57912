"""What the watchdog makes of each state of a job on a real server; its clock stands a day ahead of the server's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
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
from schedules.ledger.explain import explain
from schedules.ledger.records import Records
from tests.servers import DevServer
from worker.accounts import accounts_of
from worker.times import previous_occurrence

DAY = 86_400
EPOCH = datetime.fromtimestamp(0, UTC)
DUE = (datetime.now(UTC) + timedelta(days=1)).replace(minute=0, second=0, microsecond=0)
"""The job's next time, most of a day away. The schedules are made before it, and the watchdog looks after it."""
NOW = DUE + timedelta(minutes=10)
NOT_STARTED = "the server was away when it was due, and its scheduler is not back yet"
"""For its scheduler has not looked for what is due tomorrow."""


@pytest.fixture(scope="module")
def attribute() -> SearchAttributeKey[str]:
    return SearchAttributeKey.for_keyword(OUTCOME_ATTRIBUTE)


async def look(client: Client, job: str, state: WatchState | None = None) -> Seen:
    """One look that knows all up to five minutes before the job's time, and was made a minute ago."""
    known = state or WatchState(text(DUE - timedelta(minutes=5)), text(NOW - timedelta(minutes=1)))
    watched = WatchedJob(job, TimesRequest("UTC", intervals=[[DAY, int(DUE.timestamp()) % DAY]]), 300.0, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    activities = WatchActivities(client, previous_occurrence, accounts_of(client), now=lambda: NOW)
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


async def test_a_schedule_that_started_nothing_is_told_as_explain_tells_it(either_client: Client, name: str) -> None:
    await schedule(either_client, name)
    told = await explain(Records(either_client), name, text(DUE), NOW)
    assert told.occurrence
    assert await reasons(either_client, name) == [told.occurrence.reason]
    await either_client.get_schedule_handle(name).delete()


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
    await (await run(client, job, search_attributes=marks)).terminate(reason="too late by 3h 12m")
    async with asyncio.timeout(60):
        while not await reasons(client, job):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.1)
    assert await reasons(client, job) == ["too late by 3h 12m"]


async def test_a_schedule_that_is_not_there(client: Client, name: str) -> None:
    assert await reasons(client, name) == ["its schedule is missing; a sync creates it again"]


async def test_a_schedule_with_no_actions_left(client: Client, name: str) -> None:
    await schedule(client, name, every=timedelta(seconds=1), limited_actions=True, remaining_actions=1)
    handle = client.get_schedule_handle(name)
    while (await handle.describe()).schedule.state.remaining_actions:  # noqa: ASYNC110 - the server tells nobody
        await asyncio.sleep(0.1)
    assert await reasons(client, name) == ["the schedule has no remaining actions"]


async def test_a_paused_schedule_is_told_an_hour_later(client: Client, name: str) -> None:
    await schedule(client, name, paused=True, note="by hand")
    seen = await look(client, name)
    assert (seen.missed, seen.state.missing, seen.state.paused) == ([], {name: text(DUE)}, [name])
    an_hour_before = WatchState(
        text(NOW), text(NOW - timedelta(minutes=1)), {name: text(NOW - timedelta(hours=1))}, [], [name]
    )
    [told] = (await look(client, name, an_hour_before)).missed
    assert told.reason.startswith("the schedule is paused, since ")
    assert told.reason.endswith(": by hand")


async def test_a_time_before_the_schedule_was_made_is_not_missed(client: Client, job: str) -> None:
    yesterday = DUE - timedelta(days=1)
    watched = WatchedJob(job, TimesRequest("UTC", intervals=[[DAY, int(DUE.timestamp()) % DAY]]), 300.0, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    now = yesterday + timedelta(minutes=10)
    state = WatchState(text(yesterday - timedelta(minutes=5)), text(now))
    activities = WatchActivities(client, previous_occurrence, accounts_of(client), now=lambda: now)
    assert (await ActivityEnvironment().run(activities.look_for_missed, Look(request, state))).missed == []


async def test_a_run_that_was_left_out_since_one_before_it_still_waits_for_a_worker(client: Client, job: str) -> None:
    await client.get_schedule_handle(job).trigger()
    handle = client.get_schedule_handle(job)
    while not (await handle.describe()).info.running_actions:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.05)
    [reason] = await reasons(client, job)
    assert "has waited for a worker since" in reason
    assert f"the run {job}-{text(DUE)}" not in reason


async def test_the_first_look_only_begins(client: Client, job: str) -> None:
    seen = await look(client, job, WatchState())
    assert seen == Seen(WatchState(text(NOW), text(NOW)))


async def test_the_first_look_after_an_outage_waits_for_late_runs(client: Client, job: str) -> None:
    state = WatchState(text(DUE - timedelta(hours=1)), text(DUE - timedelta(hours=1)))
    seen = await look(client, job, state)
    assert seen == Seen(WatchState(state.looked_at, text(NOW)))
    assert [each.scheduled_at for each in (await look(client, job, seen.state)).missed] == [text(DUE)]


@pytest.mark.parametrize("after", [0.5, -0.5], ids=["before the look began", "while it went on"])
async def test_a_time_left_out_by_overlap_is_not_missed_where_the_next_run_has_just_been_started(
    client: Client, name: str, after: float
) -> None:
    """The run that held the time back has ended; the next one waits for a worker, but not yet for long."""
    await schedule(client, name, every=timedelta(seconds=2))
    handle = client.get_schedule_handle(name)
    while (info := (await handle.describe()).info).num_actions_skipped_overlap < 2:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.1)
    first = info.recent_actions[0].action
    assert isinstance(first, ScheduleActionExecutionStartWorkflow)
    await client.get_workflow_handle(first.workflow_id).terminate()
    while (info := (await handle.describe()).info).num_actions < 2:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.1)
    second = info.recent_actions[1].action
    assert isinstance(second, ScheduleActionExecutionStartWorkflow)
    scheduled = datetime.fromisoformat(second.workflow_id.removeprefix(f"{name}-"))
    now = (await client.get_workflow_handle(second.workflow_id).describe()).start_time + timedelta(seconds=after)
    grace = (now - scheduled).total_seconds() + 1.9  # asks about the time just before that of the second run
    watched = WatchedJob(name, TimesRequest("UTC", intervals=[[2, 0]]), grace, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    state = WatchState(text(now - timedelta(seconds=2)), text(now))
    activities = WatchActivities(client, previous_occurrence, accounts_of(client), now=lambda: now)
    seen = await ActivityEnvironment().run(activities.look_for_missed, Look(request, state))
    await handle.delete()
    assert seen.missed == []
    assert seen.state.missing == {}


async def test_a_time_that_the_schedule_has_lost_is_missed(either_client: Client, name: str) -> None:
    """Somebody has edited it; a sync that changes it changes the watchdog, too."""
    await schedule(either_client, name)
    watched = WatchedJob(name, TimesRequest("UTC", intervals=[[3600, 1800]]), 300.0, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    state = WatchState(text(NOW - timedelta(hours=1)), text(NOW))
    activities = WatchActivities(either_client, previous_occurrence, accounts_of(either_client), now=lambda: NOW)
    [told] = (await ActivityEnvironment().run(activities.look_for_missed, Look(request, state))).missed
    await either_client.get_schedule_handle(name).delete()
    assert told.reason.startswith("its schedule does not have this time")


async def test_a_run_that_goes_on_excuses_nothing_where_overlap_holds_nothing_back(client: Client, name: str) -> None:
    await schedule(client, name, policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.ALLOW_ALL))
    handle = client.get_schedule_handle(name)
    await handle.trigger(overlap=ScheduleOverlapPolicy.SKIP)
    while not (await handle.describe()).info.running_actions:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.05)
    assert await reasons(client, name) == [NOT_STARTED]


async def test_a_run_that_began_a_moment_after_its_time_has_waited_as_long_as_that(client: Client, name: str) -> None:
    """A look exactly at the end of the grace does not take such a run for one that has just begun."""
    at = datetime.now(UTC).replace(microsecond=0)
    assert [each.scheduled_at for each in (await look_for_run(client, name, at, timedelta(minutes=5))).missed] == [
        text(at)
    ]


async def test_a_late_run_that_was_started_a_moment_ago_is_told_only_if_no_worker_takes_it(
    client: Client, job: str
) -> None:
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)
    seen = await look_for_run(client, job, at, timedelta(minutes=5))
    assert (seen.missed, seen.state.missing) == ([], {job: text(at)})
    [told] = (await look_for_run(client, job, at, timedelta(minutes=10), seen.state)).missed
    assert told.scheduled_at == text(at)
    assert "has waited for a worker since" in told.reason


async def look_for_run(
    client: Client, name: str, at: datetime, after: timedelta, state: WatchState | None = None
) -> Seen:
    """A look so long after the time of a run that is started now, if it is not there yet."""
    if state is None:
        await client.start_workflow("Nothing", id=f"{name}-{text(at)}", task_queue=f"{name}-nobody")
    now = at + after
    watched = WatchedJob(name, TimesRequest("UTC", intervals=[[1, 0]]), 300.0, 3600.0, [0])
    request = WatchdogRequest("billing", "default", [Target("hook")], [watched])
    activities = WatchActivities(client, lambda *_: at, accounts_of(client), now=lambda: now)
    before = state or WatchState(text(now - timedelta(minutes=1)), text(now))
    return await ActivityEnvironment().run(
        activities.look_for_missed, Look(request, replace(before, asked_at=text(now)))
    )
