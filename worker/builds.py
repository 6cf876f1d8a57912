"""Tells Temporal that a build of the workers has come up: `@reboot` jobs run once for each."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog
from temporalio.service import RPCError

from activities.contract import BUILDS_WORKFLOW

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from temporalio.client import Client

FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0


@asynccontextmanager
async def announced(client: Client, task_queue: str, build_id: str) -> AsyncIterator[None]:
    """Announces the build while the context lasts, until the server has taken it."""
    telling = asyncio.create_task(_tell(client, task_queue, build_id))
    try:
        yield
    finally:
        telling.cancel()


async def _tell(client: Client, task_queue: str, build_id: str) -> None:
    log, wait = structlog.get_logger(), FIRST_WAIT
    while True:
        try:
            await client.start_workflow(
                BUILDS_WORKFLOW,
                [],
                id=f"tickwright-builds-{task_queue}",
                task_queue=task_queue,
                start_signal="came_up",
                start_signal_args=[build_id],
                static_summary=f"the builds of the workers of {task_queue}: @reboot jobs run once for each",
            )
        except RPCError as error:
            log.warning("build not announced", action="build_unannounced", error=error.message, retry_in=wait)
        else:
            return
        await asyncio.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)
