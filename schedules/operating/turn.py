"""Requests for a run of now, one after another: a run's id has whole seconds, and two requests in one second make one run."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from activities.contract import TURN_PREFIX
from schedules.errors import ServerError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from temporalio.client import Client, WorkflowHandle

RPC_TIMEOUT = timedelta(seconds=10)
LONGEST = timedelta(seconds=20)
"""A turn whose command was killed ends by itself after this."""
PATIENCE = 120.0
LOOK_AGAIN = 0.2


class Turn:
    """The right to ask a job's schedule for a run, and the server's clock."""

    def __init__(self, ahead: timedelta, error: timedelta) -> None:
        """`ahead` is the server's clock minus ours, `error` what it may be too little."""
        self._ahead, self._error = ahead, error

    def now(self) -> datetime:
        """By the server's clock, at the earliest."""
        return datetime.now(UTC) + self._ahead

    def latest(self) -> datetime:
        """By the server's clock, at the latest."""
        return self.now() + self._error


@asynccontextmanager
async def turn(client: Client, job: str) -> AsyncIterator[Turn]:
    """Held by one command at a time. Raises ServerError where others hold it too long, and for what the server refuses.

    It is a workflow that no worker takes: of an id the server lets only one run at a time, and it ends with the block.
    """
    handle, asked_at, taken_at = await _taken(client, job)
    try:
        try:
            described = await handle.describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            raise ServerError("trigger", error.status.name, error.message) from error
        yield Turn(described.start_time - taken_at, taken_at - asked_at)
    finally:
        await _given_back(client, handle)


async def _taken(client: Client, job: str) -> tuple[WorkflowHandle[object, object], datetime, datetime]:
    """And our clock before and after the server took it."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE
    while True:
        asked_at = datetime.now(UTC)
        try:
            handle = await client.start_workflow(
                "tickwright-turn",
                id=TURN_PREFIX + job,
                task_queue=TURN_PREFIX + job,  # nobody polls it
                execution_timeout=LONGEST,
                static_summary=f"a trigger of {job} is being asked for",
                rpc_timeout=RPC_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            if loop.time() > until:
                message = f"other commands have been triggering `{job}` for {PATIENCE:.0f} s; nothing was started, so try again"
                raise ServerError("trigger", "ABORTED", message) from None
            await asyncio.sleep(LOOK_AGAIN)
        except RPCError as error:
            raise ServerError("trigger", error.status.name, error.message) from error
        else:
            return handle, asked_at, datetime.now(UTC)


async def _given_back(client: Client, handle: WorkflowHandle[object, object]) -> None:
    """And nothing of it is left in the lists of workflows. What the server does not do now, time does."""
    try:
        await handle.terminate(reason="done", rpc_timeout=RPC_TIMEOUT)
        execution = WorkflowExecution(workflow_id=handle.id, run_id=handle.first_execution_run_id or "")
        request = DeleteWorkflowExecutionRequest(namespace=client.namespace, workflow_execution=execution)
        await client.workflow_service.delete_workflow_execution(request, timeout=RPC_TIMEOUT)
    except RPCError:
        return
