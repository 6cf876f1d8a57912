"""What the tests of both schedulers stand on: which one a schedule is on, and that it moves."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from temporalio.client import Client, Schedule, ScheduleActionStartWorkflow, ScheduleIntervalSpec, ScheduleSpec

from activities.conflict_token import is_v2, versions
from schedules.model import Interval, Policies, Times
from schedules.server.gateway import TemporalGateway
from tests.factories import desired
from tests.schedulers import BEFORE_MOVE, MOVING, Scheduler, move, scheduler_of
from tests.servers import DevServer, free_port

if TYPE_CHECKING:
    from collections.abc import Callable


async def _daily(client: Client, schedule_id: str) -> None:
    action = ScheduleActionStartWorkflow("nobody", id=schedule_id, task_queue=schedule_id)
    await client.create_schedule(
        schedule_id, Schedule(action, ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(days=1))]))
    )


@pytest.mark.parametrize(("fixture", "scheduler"), [("server", "V1"), ("v2_server", "V2")])
async def test_each_server_has_its_scheduler(
    request: pytest.FixtureRequest, fixture: str, scheduler: Scheduler, name: str
) -> None:
    server: DevServer = request.getfixturevalue(fixture)
    client = await Client.connect(server.address)
    await _daily(client, name)
    assert await scheduler_of(client, name) == scheduler


async def test_a_schedule_moves(start_server: Callable[..., DevServer], tmp_path: Path, name: str) -> None:
    place = {"database": tmp_path / "temporal.db", "port": free_port()}
    before = start_server(**place, config=BEFORE_MOVE)
    client = await Client.connect(before.address)
    await _daily(client, name)
    assert await scheduler_of(client, name) == "V1"
    before.stop()
    moving = start_server(**place, config=MOVING)
    client = await Client.connect(moving.address)
    await move(client, name)
    assert await scheduler_of(client, name) == "V2"
    assert (await client.get_schedule_handle(name).describe()).id == name


async def test_the_token_tells_the_schedulers_apart(either_server: DevServer, either_client: Client, name: str) -> None:
    await _daily(either_client, name)
    for edits in range(3):
        token = (await either_client.get_schedule_handle(name).describe()).raw_description.conflict_token
        assert is_v2(token) == (await scheduler_of(either_client, name) == "V2")
        assert versions(token) == edits + 1
        await either_client.get_schedule_handle(name).pause(note=f"{edits}")
        async with asyncio.timeout(60):
            while (await either_client.get_schedule_handle(name).describe()).schedule.state.note != f"{edits}":
                pass


async def test_a_schedule_that_buffers_one_start_says_one(either_client: Client, name: str) -> None:
    """V2 counts all that came due during the run."""
    gateway = TemporalGateway(either_client)
    every_second = Times("UTC", intervals=(Interval(1),))
    await gateway.create(desired(name, times=every_second, policies=Policies("buffer_one", 60)))
    skipped = 0
    async with asyncio.timeout(60):
        while skipped < 3:
            observed = await gateway.describe(name)
            assert observed
            assert observed.activity.waiting <= 1
            described = await either_client.get_schedule_handle(name).describe()
            skipped = described.raw_description.info.buffer_size + described.info.num_actions_skipped_overlap
    await gateway.delete(name)
