"""What becomes of starts that wait for a run to end, on Temporal's two schedulers: what the product says of them relies on it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
)

from activities.overlap import KEPT_BY_V2
from tests.schedulers import scheduler_of

if TYPE_CHECKING:
    from temporalio.api.schedule.v1 import ScheduleInfo

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


async def make(client: Client, name: str, every: timedelta, overlap: ScheduleOverlapPolicy) -> None:
    """A schedule whose runs nobody takes."""
    action = ScheduleActionStartWorkflow("nobody", id=name, task_queue=name)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every)])
    await client.create_schedule(name, Schedule(action, spec, policy=SchedulePolicy(overlap=overlap)))


async def info_of(client: Client, name: str) -> ScheduleInfo:
    return (await client.get_schedule_handle(name).describe()).raw_description.info


async def end_run(client: Client, name: str) -> None:
    """Ends the run that goes on, and waits until the schedule has taken that in."""
    [run] = (await info_of(client, name)).running_workflows
    await client.get_workflow_handle(run.workflow_id, run_id=run.run_id).terminate()
    async with asyncio.timeout(20):
        while run in (await info_of(client, name)).running_workflows:  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.1)


async def test_how_many_buffer_one_keeps(either_client: Client, name: str) -> None:
    """Five are asked for: one runs, and of those that wait V1 keeps one and V2 two."""
    await make(either_client, name, DAY, ScheduleOverlapPolicy.BUFFER_ONE)
    handle = either_client.get_schedule_handle(name)
    for _ in range(5):
        await handle.trigger()
        await asyncio.sleep(1.1)  # two in a second would be one
    kept = 1 if await scheduler_of(either_client, name) == "V1" else KEPT_BY_V2
    for _ in range(kept):
        await end_run(either_client, name)
        async with asyncio.timeout(20):
            while not (await info_of(either_client, name)).running_workflows:  # noqa: ASYNC110  nobody tells
                await asyncio.sleep(0.1)
    await end_run(either_client, name)
    await asyncio.sleep(1)

    info = await info_of(either_client, name)
    assert (list(info.running_workflows), info.buffer_size, info.action_count) == ([], 0, 1 + kept)
    await handle.delete()
