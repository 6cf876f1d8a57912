"""Whether a worker would do what is left to the workers of a job's task queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.contract import JOB_WORKFLOW
from schedules.server.workers import Workers

if TYPE_CHECKING:
    from temporalio.client import Client

    from schedules.model import Action


async def missing_worker(client: Client, action: Action) -> str:
    """Why nobody would; empty where somebody would. Other workers than ours may run what a schedule starts itself."""
    workers, queue = Workers(client), action.task_queue
    if not await workers.polls(queue):
        return f"no worker polls task queue `{queue}`"
    if action.workflow_type != JOB_WORKFLOW and await workers.offer(queue) is None:
        return f"no Tickwright worker answers in task queue `{queue}`"
    return ""
