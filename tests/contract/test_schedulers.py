"""What the tests of both schedulers stand on: which one a schedule is on, and that it moves."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from temporalio.client import Client, Schedule, ScheduleActionStartWorkflow, ScheduleIntervalSpec, ScheduleSpec

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
