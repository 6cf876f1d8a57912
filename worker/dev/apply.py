"""The jobs of `dev`: made what the files say, and what keeps them from running told once a worker is there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from schedules.console.terminal import say
from schedules.errors import TickwrightError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from temporalio.client import Client

    from schedules.model import DesiredSchedule
    from schedules.plan.plan import Plan
    from worker.process.lifecycle import Stop

WORKER_SECONDS = 30.0
"""For the worker to be seen to poll."""


class SyncFailedError(TickwrightError):
    """Some of the jobs could not be applied."""


async def apply(owner: str, compiled: Mapping[str, DesiredSchedule], now: datetime, client: Client, stop: Stop) -> Plan:
    """Makes the namespace match the jobs. Raises TickwrightError where it does not afterwards."""
    from schedules.plan.encryption import sealed
    from schedules.server.codec import active_key
    from schedules.server.gateway import TemporalGateway
    from schedules.sync.reconcile import apply_plan, plan_sync
    from schedules.views.plan import counts, result_text

    gateway = TemporalGateway(client)
    desired = sealed(compiled, active_key(client.data_converter))
    plan = await plan_sync(gateway, owner, desired, now)
    plan.raise_if_unsafe(None)
    print(counts(plan))
    results = await apply_plan(plan, gateway, stop.asked)
    text = result_text(plan, results, interrupted=stop.asked.is_set())
    if any(item.result == "failed" for item in results):
        raise SyncFailedError(text)
    print(text, flush=True)
    return plan


async def tell_what_is_missing(plan: Plan, desired: Mapping[str, DesiredSchedule], client: Client, queue: str) -> None:
    """The warnings that `sync` has, as soon as the worker of `queue` polls."""
    from schedules.server.workers import Workers
    from schedules.sync.preflight import preflight

    workers = Workers(client)
    async with asyncio.timeout(WORKER_SECONDS):
        while not await workers.polls(queue):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.1)
    for warning in await preflight(plan, desired.values(), workers, ask=True):
        say(f"warning: {warning}")
