"""The run of a schedule for which a late start had to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.account.held_back import SLACK, holder_among, let_go_in_time
from activities.account.reading import RPC_TIMEOUT
from activities.account.record import time_of
from activities.late.decision import SECOND, instant
from activities.late.due import id_of
from activities.overlap import overlap_policy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse
    from temporalio.client import Client, WorkflowExecutionDescription

    from activities.contract import LateStart

FEW_RUNS = 3


class Queue:
    """What the schedule had started before. Every method raises RPCError where the server cannot be asked."""

    def __init__(self, client: Client, late: LateStart, schedule: DescribeScheduleResponse, grace: timedelta) -> None:
        self._client, self._late, self._grace = client, late, grace
        self._scheduled, self._started = instant(late.scheduled_at), instant(late.started_at)
        self._recent = [each for each in schedule.info.recent_actions if id_of(each) != late.workflow_id]

    async def holder(self, due: datetime) -> WorkflowExecutionDescription | None:
        """The run that held back a start that was due then, and had ended when it started."""
        policy = overlap_policy(self._late.catchup.overlap)
        if not (policy.buffers or policy.ends_other):
            return None
        held = holder_among(await self._ended_before(due), due)
        return await self._ahead(due) if held is None and policy.keeps_all else held

    async def _ahead(self, due: datetime) -> WorkflowExecutionDescription | None:
        """The last run of an earlier time that stood in the queue when this one was due: between two runs of a slow server."""
        ahead = [
            each
            for each in self._recent
            if time_of(each.schedule_time) < self._scheduled and due < time_of(each.actual_time) <= self._started
        ]
        if not ahead:
            return None
        first = time_of(ahead[0].schedule_time)
        runs = await self._ended_before(first)
        if not let_go_in_time(runs, first, time_of(ahead[0].actual_time), self._grace):
            return None
        ended = await self._ended([(id_of(ahead[-1]), ahead[-1].start_workflow_result.run_id)])
        return ended[0] if ended else None

    async def _ended_before(self, due: datetime) -> list[WorkflowExecutionDescription]:
        """The last runs that the schedule had started by this time, of those that had ended when the late one started."""
        started = [each for each in self._recent if time_of(each.actual_time) <= due + SLACK]
        if started:
            names = [(id_of(each), each.start_workflow_result.run_id) for each in started[-FEW_RUNS:]]
        else:
            query = (
                f'TemporalScheduledById = "{self._late.schedule}" AND StartTime <= "{(due + SLACK).isoformat()}"'
                f' AND (CloseTime >= "{(due - SLACK).isoformat()}" OR ExecutionStatus = "Running")'
            )
            runs = self._client.list_workflows(query, limit=FEW_RUNS, rpc_timeout=RPC_TIMEOUT)
            names = [(run.id, run.run_id) async for run in runs if run.id != self._late.workflow_id]
        return await self._ended(names)

    async def _ended(self, names: Sequence[tuple[str, str]]) -> list[WorkflowExecutionDescription]:
        handles = [self._client.get_workflow_handle(name, run_id=run_id) for name, run_id in names]
        described = [await handle.describe(rpc_timeout=RPC_TIMEOUT) for handle in handles]
        return [run for run in described if run.close_time is not None and run.close_time <= self._started + SECOND]
