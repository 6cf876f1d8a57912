"""What /readyz goes by."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from temporalio.client import Client

from tests.servers import DevServer
from worker.app import given_up_too_many
from worker.health import Health


@pytest.mark.parametrize(("count", "ready"), [(0, True), (2, True), (3, False), (4, False)])
async def test_a_worker_with_as_many_handlers_given_up_as_steps_at_a_time_is_not_ready(
    count: int, ready: bool, client: Client, server: DevServer
) -> None:
    health = Health(CollectorRegistry(), "polling", client, burden=lambda: given_up_too_many(count, 3))
    reason = await health.unready_reason()
    assert (reason == "") == ready
    assert ready or reason.startswith(f"{count} handlers go on")
