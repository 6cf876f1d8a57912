"""Temporal's two schedulers on dev servers: V1 (a workflow for each schedule), V2 (CHASM), and a namespace that moves to V2."""

from __future__ import annotations

import asyncio
from typing import Literal

from temporalio.api.schedule.v1 import SchedulePatch
from temporalio.api.workflowservice.v1 import PatchScheduleRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

Scheduler = Literal["V1", "V2"]
V2 = ("history.enableCHASMSchedulerCreation=true", "history.chasmSchedulerCreationRolloutPercent=100")
"""Settings (see `dev_server`) with which new schedules are V2; without any they are V1."""
BEFORE_MOVE = ("history.enableCHASMSchedulerSentinels=false",)
"""Settings under which V1 schedules can be made, in a database file, that move once the server is started anew with MOVING."""
MOVING = (*V2, "history.enableCHASMSchedulerMigration=true", "history.chasmSchedulerMigrationRolloutPercent=100")
"""Settings under which each V1 schedule moves to V2 when it wakes next and no run of it goes on."""
MOVING_IN_A_RUN = (*MOVING, "history.enableCHASMSchedulerMigrationWithRunningWorkflows=true")
"""The same, whether or not a run goes on."""
SCHEDULER_TYPE = "temporal-sys-scheduler-workflow"
MOVE_SECONDS = 30.0


async def scheduler_of(client: Client, schedule_id: str) -> Scheduler:
    """The scheduler that a schedule is on now. A V2 schedule has a placeholder or an ended scheduler as workflow, or none."""
    try:
        found = await client.get_workflow_handle(f"temporal-sys-scheduler:{schedule_id}").describe()
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        return "V2"
    runs = found.workflow_type == SCHEDULER_TYPE and found.status == WorkflowExecutionStatus.RUNNING
    return "V1" if runs else "V2"


async def move(client: Client, *schedule_ids: str) -> None:
    """Wakes schedules by a request that asks for nothing, and waits until they are on V2. Raises TimeoutError."""
    async with asyncio.timeout(MOVE_SECONDS):
        for schedule_id in schedule_ids:
            while await scheduler_of(client, schedule_id) == "V1":
                request = PatchScheduleRequest(
                    namespace=client.namespace, schedule_id=schedule_id, patch=SchedulePatch()
                )
                await client.workflow_service.patch_schedule(request)
                await asyncio.sleep(0.2)
