"""What Temporal's V2 scheduler does with a time that waits for its jitter when something else happens to its schedule."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from temporalio.client import Client

from activities.occurrence import occurrence_id
from schedules.model import Interval, Policies, Times
from schedules.server.gateway import TemporalGateway
from tests.factories import desired

if TYPE_CHECKING:
    from tests.servers import DevServer

EVERY, JITTER = 12, 10
SECOND = timedelta(seconds=1)


async def next_jittered(gateway: TemporalGateway, name: str) -> tuple[datetime, datetime]:
    """The next scheduled time that jitter delays by so much that something can happen meanwhile, and when it starts."""
    now = datetime.now(UTC)
    for came in await gateway.matching_times(name, now, now + 20 * EVERY * SECOND):
        at = datetime.fromtimestamp(came.timestamp() // EVERY * EVERY, UTC)
        if at > now + SECOND and came - at > 4 * SECOND:
            return at, came
    raise AssertionError("no time with a jitter of more than four seconds")


async def sleep_until(at: datetime) -> None:
    await asyncio.sleep((at - datetime.now(UTC)).total_seconds())


@pytest.mark.parametrize("fixture", ["server", "v2_server"])
async def test_a_run_that_ends_lets_v2_forget_a_time_that_waits_for_its_jitter(
    request: pytest.FixtureRequest, fixture: str, name: str
) -> None:
    server: DevServer = request.getfixturevalue(fixture)
    client = await Client.connect(server.address)
    gateway = TemporalGateway(client)
    times = Times("UTC", intervals=(Interval(EVERY),), jitter=JITTER)
    await gateway.create(desired(name, times=times, policies=Policies("allow_all", 3600)))
    at, came = await next_jittered(gateway, name)
    await client.get_schedule_handle(name).trigger()
    await sleep_until(at + SECOND)
    query = f"TemporalScheduledById = '{name}' AND ExecutionStatus = 'Running'"
    running = [each.id async for each in client.list_workflows(query)]
    for each in running:
        await client.get_workflow_handle(each).terminate()
    await sleep_until(came + 3 * SECOND)

    started = [each.id async for each in client.list_workflows(f"WorkflowId = '{occurrence_id(name, at)}'")]
    await client.get_schedule_handle(name).delete()
    assert running
    assert len(started) == (0 if fixture == "v2_server" else 1)
