"""Starts the backfill of a job, follows it and ends it: it is a workflow, so that no terminal has to stay open."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus
from temporalio.converter import value_to_type
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from activities.contract import (
    ASKED_MEMO,
    BACKFILL_PREFIX,
    BACKFILL_WORKFLOW,
    PROGRESS_MEMO,
    BackfillProgress,
    BackfillRequest,
)
from schedules.errors import ServerError, SettingsError, TickwrightError
from schedules.operating.holes import progress_text
from schedules.server.calls import Calls
from schedules.server.pace import Pace
from schedules.server.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from temporalio.client import Client, WorkflowExecutionDescription

    from schedules.model import ObservedSchedule

RPC_TIMEOUT = timedelta(seconds=15)
LOOK_AGAIN = 0.5
LOOKS = 6
"""Within so many looks a worker that is there ends a backfill that was cancelled."""
SETTLES = 12.0
"""Seconds within which a backfill notices that its last run has ended."""


@dataclass(frozen=True, slots=True)
class Followed:
    """`status` is Temporal's, in lower case: `running` where it was left before its end."""

    progress: BackfillProgress
    status: str

    @property
    def well(self) -> bool:
        """Whether it has ended, and nothing failed."""
        return self.status == "completed" and not self.progress.failed


class BusyError(TickwrightError):
    """A backfill of the job goes on already."""

    def __init__(self, job: str) -> None:
        super().__init__(
            f"a backfill of `{job}` is already running; follow it with `tickwright backfill {job} --watch`, or end it with `tickwright backfill {job} --cancel`"
        )


class Backfills:
    """The backfills of a namespace: one a job at a time. Methods raise ServerError for what the server refuses."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._call = Calls(Pace())

    async def start(self, observed: ObservedSchedule, request: BackfillRequest) -> None:
        """Leaves it to the workers of the job's task queue, behind one that is just ending. Raises BusyError."""
        loop = asyncio.get_running_loop()
        patience = loop.time() + SETTLES
        while await self.goes_on(request.schedule):
            if loop.time() > patience:
                raise BusyError(request.schedule)
            await asyncio.sleep(LOOK_AGAIN)
        memo = {PROGRESS_MEMO: {"total": len(request.times)}, ASKED_MEMO: []}
        try:
            await self._client.start_workflow(
                BACKFILL_WORKFLOW,
                request,
                id=BACKFILL_PREFIX + request.schedule,
                task_queue=observed.action.task_queue,
                memo=memo,
                static_summary=f"{len(request.times)} occurrences of {request.schedule}",
                rpc_timeout=RPC_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            raise BusyError(request.schedule) from None
        except RPCError as error:
            raise ServerError("start the backfill", error.status.name, error.message) from error

    async def goes_on(self, job: str) -> bool:
        """Whether there is one now."""
        found = await self._described(job)
        return found is not None and found.status == WorkflowExecutionStatus.RUNNING

    async def cancel(self, job: str) -> bool:
        """Starts no more occurrences of it; whether it has ended. Raises SettingsError where there is none.

        Where no worker is there that could end it in order, the server does, and none could start another one meanwhile.
        """
        found = await self._described(job)
        if found is None or found.status != WorkflowExecutionStatus.RUNNING:
            raise SettingsError(f"no backfill of `{job}` is running")
        handle = self._client.get_workflow_handle(BACKFILL_PREFIX + job, run_id=found.run_id)
        await self._asked("cancel", handle.cancel(rpc_timeout=RPC_TIMEOUT))
        for _ in range(LOOKS):
            if not await self.goes_on(job):
                return True
            await asyncio.sleep(LOOK_AGAIN)
        if await Workers(self._client).polls(found.task_queue):
            return False
        ended = handle.terminate(reason="cancelled, while no worker polled its task queue", rpc_timeout=RPC_TIMEOUT)
        await self._asked("end", ended)
        return True

    async def _asked(self, what: str, call: Awaitable[None]) -> None:
        try:
            await call
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise ServerError(f"{what} the backfill", error.status.name, error.message) from error

    async def follow(self, job: str, tell: Callable[[str], None], stop: asyncio.Event) -> Followed:
        """Tells its progress whenever that changes, until it has ended or `stop` is set. Raises SettingsError for none."""
        told = ""
        while True:
            found = await self._described(job)
            if found is None:
                raise SettingsError(
                    f"there is no backfill of `{job}`; start one with `tickwright backfill {job} --from T`"
                )
            progress = await _progress(found)
            line = progress_text(progress) + await _running(found)
            if line != told:
                tell(line)
                told = line
            if found.status != WorkflowExecutionStatus.RUNNING:
                return Followed(progress, (found.status or WorkflowExecutionStatus.FAILED).name.lower())
            try:
                async with asyncio.timeout(LOOK_AGAIN):
                    await stop.wait()
            except TimeoutError:
                continue
            return Followed(progress, "running")

    async def _described(self, job: str) -> WorkflowExecutionDescription | None:
        handle = self._client.get_workflow_handle(BACKFILL_PREFIX + job)

        async def describe(_request: DescribeWorkflowExecutionRequest, **_options: Any) -> WorkflowExecutionDescription:
            return await handle.describe(rpc_timeout=RPC_TIMEOUT)

        request = DescribeWorkflowExecutionRequest(namespace=self._client.namespace)
        try:
            return await self._call("read the backfill", describe, request)
        except ServerError as error:
            if error.code == RPCStatusCode.NOT_FOUND.name:
                return None
            raise


async def _progress(found: WorkflowExecutionDescription) -> BackfillProgress:
    memo = await found.memo()
    progress: BackfillProgress = value_to_type(BackfillProgress, memo.get(PROGRESS_MEMO, {}))
    return progress


async def _running(found: WorkflowExecutionDescription) -> str:
    asked: Any = (await found.memo()).get(ASKED_MEMO, [])
    return f"; asked for: {', '.join(asked)}" if asked and found.status == WorkflowExecutionStatus.RUNNING else ""
