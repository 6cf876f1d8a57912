"""Writes to one schedule by hand, each read back: the server may lose a request that comes with another one."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.api.schedule.v1 import SchedulePatch
from temporalio.api.workflowservice.v1 import PatchScheduleRequest
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from activities.contract import RESUME_PREFIX, RESUME_WORKFLOW, ResumeOrder
from schedules.errors import ServerError
from schedules.server.calls import AWAY, Calls
from schedules.server.gateway import TemporalGateway
from schedules.server.pace import Pace
from schedules.server.translate import OVERLAPS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from temporalio.client import Client

    from activities.overlap import Overlap
    from schedules.model import ObservedSchedule, RuntimeState

TRIES, LOOKS, BETWEEN = 5, 10, 0.2
REFUSED_WAITS = (0.2, 0.4, 0.8, 1.6, 3.2)
RPC_TIMEOUT = timedelta(seconds=15)


class Writes:
    """Every method raises ServerError for what the server refuses."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.gateway = TemporalGateway(client)
        self._call = Calls(Pace())

    async def pause(self, name: str, note: str) -> None:
        """Paused with this note, whatever the state before."""
        await self._made_sure("pause", name, SchedulePatch(pause=note), lambda s: s.paused and s.note == note)

    async def unpause(self, name: str, note: str) -> None:
        """No longer paused, and with this note, whatever the state before."""
        await self._made_sure("resume", name, SchedulePatch(unpause=note), lambda s: not s.paused and s.note == note)

    async def trigger(self, name: str, at: datetime, overlap: Overlap) -> str:
        """Asks, once, for a run of that time, or on V2 for one of now; whether it starts is up to the overlap policy.

        Why it is not sure that the server has taken the request; empty where it is. (The V2 scheduler takes one as often as it comes.)
        """
        patch = SchedulePatch()
        patch.trigger_immediately.overlap_policy = OVERLAPS[overlap]
        patch.trigger_immediately.scheduled_time.FromDatetime(at)
        try:
            await self._once(self._request(name, patch))
        except ServerError as error:
            if error.code not in {status.name for status in AWAY}:
                raise
            return f"the server answered {error.code}: {error.detail}"
        return ""

    async def resume_at(self, observed: ObservedSchedule, order: ResumeOrder) -> None:
        """Leaves a timer on the server in place of any other for the job; a worker of the job's queue ends the pause."""
        try:
            await self.client.start_workflow(
                RESUME_WORKFLOW,
                order,
                id=RESUME_PREFIX + order.schedule,
                task_queue=observed.action.task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
                static_summary=f"resumes {order.schedule} at {order.at}",
                rpc_timeout=RPC_TIMEOUT,
            )
        except RPCError as error:
            raise ServerError("set the timer for --until", error.status.name, error.message) from error

    async def forget_resume(self, name: str) -> None:
        """Takes back what `resume_at` left, if there is any."""
        handle = self.client.get_workflow_handle(RESUME_PREFIX + name)
        try:
            await handle.terminate(reason="another pause or a resume by hand", rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise ServerError("cancel the timer of the last --until", error.status.name, error.message) from error

    async def _made_sure(
        self, what: str, name: str, patch: SchedulePatch, done: Callable[[RuntimeState], bool]
    ) -> None:
        for _ in range(TRIES):
            await self._patch(what, name, patch)
            for _ in range(LOOKS):
                observed = await self.gateway.describe(name)
                if observed is None:
                    raise ServerError(what, RPCStatusCode.NOT_FOUND.name, f"the schedule `{name}` has been deleted")
                if done(observed.state):
                    return
                await asyncio.sleep(BETWEEN)
        raise ServerError(
            what, RPCStatusCode.ABORTED.name, f"`{name}` did not change as requested; see `tickwright status`"
        )

    async def _patch(self, what: str, name: str, patch: SchedulePatch) -> None:
        await self._call(what, self.client.workflow_service.patch_schedule, self._request(name, patch))

    async def _once(self, request: PatchScheduleRequest) -> None:
        """Without another attempt, but where the server said that it has taken nothing since there is too much."""
        for wait in REFUSED_WAITS:
            try:
                await self.client.workflow_service.patch_schedule(request, retry=False, timeout=RPC_TIMEOUT)
            except RPCError as error:
                if error.status != RPCStatusCode.RESOURCE_EXHAUSTED or wait == REFUSED_WAITS[-1]:
                    raise ServerError("trigger", error.status.name, error.message) from error
                await asyncio.sleep(wait)
            else:
                return

    def _request(self, name: str, patch: SchedulePatch) -> PatchScheduleRequest:
        return PatchScheduleRequest(
            namespace=self.client.namespace,
            schedule_id=name,
            patch=patch,
            identity=self.client.identity,
            request_id=str(uuid.uuid4()),
        )
