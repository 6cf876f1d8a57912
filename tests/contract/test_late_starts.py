"""Habits of the server on which catching up relies."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
)
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

WINDOW = 10.0


async def every_two_seconds(client: Client, name: str, overlap: ScheduleOverlapPolicy) -> None:
    """A schedule of a workflow that no worker takes."""
    await client.create_schedule(
        name,
        Schedule(
            action=ScheduleActionStartWorkflow("Nobody", id=name, task_queue=name),
            spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=2))]),
            policy=SchedulePolicy(overlap=overlap, catchup_window=timedelta(seconds=WINDOW)),
        ),
    )


async def started(client: Client, name: str) -> dict[datetime, datetime]:
    """When the occurrences of a schedule were started, by their times."""
    runs = [run async for run in client.list_workflows(f"TemporalScheduledById = '{name}'")]
    return {datetime.fromisoformat(run.id[-20:]): run.start_time for run in runs}


async def until_started(client: Client, name: str, count: int) -> dict[datetime, datetime]:
    async with asyncio.timeout(60):
        while len(found := await started(client, name)) < count:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.2)
    return found


async def test_a_start_that_waits_for_the_run_before_it_outlives_the_catch_up_window(client: Client, name: str) -> None:
    await every_two_seconds(client, name, ScheduleOverlapPolicy.BUFFER_ALL)
    [first] = await until_started(client, name, 1)
    await asyncio.sleep(WINDOW + 4)
    await client.get_workflow_handle(f"{name}-{first:%Y-%m-%dT%H:%M:%SZ}").terminate()
    second = first + timedelta(seconds=2)
    found = await until_started(client, name, 2)
    assert (found[second] - second).total_seconds() > WINDOW
    info = (await client.get_schedule_handle(name).describe()).info
    assert info.num_actions_missed_catchup_window == 0


async def test_an_id_that_is_taken_is_not_started_again_and_the_schedule_goes_on(client: Client, name: str) -> None:
    """Also where what took it has the marks of a schedule's run, which a run may put on its child."""
    now = int(datetime.now(UTC).timestamp())
    taken = datetime.fromtimestamp(now - now % 2 + 6, UTC)
    marks: list[SearchAttributePair[Any]] = [
        SearchAttributePair(SearchAttributeKey.for_datetime("TemporalScheduledStartTime"), taken),
        SearchAttributePair(SearchAttributeKey.for_keyword("TemporalScheduledById"), f"{name}-other"),
    ]
    run = await client.start_workflow(
        "Nobody",
        id=f"{name}-{taken:%Y-%m-%dT%H:%M:%SZ}",
        task_queue=name,
        search_attributes=TypedSearchAttributes(marks),
    )
    await every_two_seconds(client, name, ScheduleOverlapPolicy.ALLOW_ALL)
    async with asyncio.timeout(60):
        while max(await started(client, name), default=taken) <= taken:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.2)
    assert taken not in await started(client, name)
    described = await run.describe()
    assert described.run_id == run.first_execution_run_id
    assert described.typed_search_attributes[SearchAttributeKey.for_datetime("TemporalScheduledStartTime")] == taken
