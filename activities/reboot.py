"""Starts the jobs that run once for each new build of the workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog
from temporalio import activity
from temporalio.client import ScheduleActionStartWorkflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.converter import PayloadConverter
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from activities.contract import BUILD_MEMO, OWNER_ATTRIBUTE, START_REBOOT_RUNS, NewBuild
from activities.late.decision import instant
from activities.reboot_mark import REBOOT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from temporalio.client import Client, ScheduleDescription, ScheduleSpec


class RebootActivities:
    """Works in the namespace of its client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @activity.defn(name=START_REBOOT_RUNS)
    async def start_reboot_runs(self, build: NewBuild) -> list[str]:
        """The ids of the runs: each `@reboot` job of the build's task queue that is not paused and has begun (`start_at`), at the time it came up.

        Raises ApplicationError that names those which could not be started, once the others have been. However often it is tried, each of them starts once: the time, and with it the run's id, stays the same.
        """
        started, failed = [], []
        async for schedule in self._marked():
            if (
                _queue(schedule) != build.task_queue
                or schedule.schedule.state.paused
                or not _has_begun(schedule, build)
            ):
                continue
            try:
                started.append(await self._start(schedule, build))
            except Exception as error:  # noqa: BLE001  one that cannot be started, or read, keeps no other from it
                failed.append(f"{schedule.id}: {error}")
        if failed:
            raise ApplicationError("; ".join(failed))
        return started

    async def _marked(self) -> AsyncIterator[ScheduleDescription]:
        """The owned schedules with the mark of `@reboot`. What List leaves out of a long spec is not the mark."""
        try:
            owned = await self._client.list_schedules(f"{OWNER_ATTRIBUTE} IS NOT NULL")
            names = [each.id async for each in owned if each.schedule and _is_marked(each.schedule.spec)]
        except RPCError as error:
            if error.status != RPCStatusCode.INVALID_ARGUMENT:  # The namespace knows no owners: nothing was synced yet.
                raise
            names = []
        for name in names:
            try:
                yield await self._client.get_schedule_handle(name).describe()
            except RPCError as error:
                if error.status != RPCStatusCode.NOT_FOUND:  # Deleted a moment ago.
                    raise

    async def _start(self, schedule: ScheduleDescription, build: NewBuild) -> str:
        action: Any = schedule.schedule.action
        run = f"{action.id}-{build.came_up_at}"
        try:
            await self._client.start_workflow(
                action.workflow,
                args=await self._client.data_converter.decode(action.args),
                id=run,
                task_queue=action.task_queue,
                execution_timeout=action.execution_timeout,
                run_timeout=action.run_timeout,
                task_timeout=action.task_timeout,
                retry_policy=action.retry_policy,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                search_attributes=action.typed_search_attributes,
                memo={BUILD_MEMO: PayloadConverter.default.to_payload(build.build_id)},
                static_summary=f"{REBOOT}: build {build.build_id}",
            )
        except WorkflowAlreadyStartedError:
            return run
        structlog.get_logger().info(
            "started for a new build", action="reboot_started", run=run, build_id=build.build_id
        )
        return run


def _is_marked(spec: ScheduleSpec) -> bool:
    return any((calendar.comment or "").startswith(REBOOT) for calendar in spec.calendars)


def _has_begun(schedule: ScheduleDescription, build: NewBuild) -> bool:
    """Whether the build came up after the job's `start_at`."""
    begins = schedule.schedule.spec.start_at
    return begins is None or begins <= instant(build.came_up_at)


def _queue(schedule: ScheduleDescription) -> str:
    action = schedule.schedule.action
    return action.task_queue if isinstance(action, ScheduleActionStartWorkflow) else ""
