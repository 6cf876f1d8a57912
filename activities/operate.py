"""The activities behind `backfill`, `trigger` and `pause --until`: they look at a schedule and ask it for what is wanted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from temporalio import activity
from temporalio.api.workflowservice.v1 import DescribeScheduleRequest, UpdateScheduleRequest
from temporalio.client import (
    ScheduleActionExecutionStartWorkflow,
    WorkflowExecutionStatus,
    WorkflowFailureError,
)
from temporalio.exceptions import ApplicationError, CancelledError, TerminatedError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from activities.contract import (
    ASK_FOR_OCCURRENCE,
    ASKED_MEMO,
    LOOK_AT_OCCURRENCE,
    NO_SUCH_TIME,
    RESUME_SCHEDULE,
    OccurrenceAsk,
    OccurrenceLook,
    OccurrenceSeen,
    ResumeOrder,
)
from activities.note import MOVING
from activities.occurrence import job_of, run_among, scheduled_time
from activities.occurrence_request import OccurrenceRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from temporalio.client import Client, ScheduleDescription, WorkflowExecutionDescription

RPC_TIMEOUT = timedelta(seconds=5)
NONE = timedelta(0)
GONE = "schedule_gone"
"""Type of the ApplicationError for a schedule that is no longer there."""
GOES_ON = frozenset({WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CONTINUED_AS_NEW})


class OperateActivities:
    """Works in the namespace of its client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @activity.defn(name=LOOK_AT_OCCURRENCE)
    async def look_at_occurrence(self, look: OccurrenceLook) -> OccurrenceSeen:
        """What has become of the occurrence, and what the schedule is about. Raises ApplicationError GONE."""
        schedule = await self._schedule(look.schedule)
        running = [each.workflow_id for each in _running(schedule)]
        seen = OccurrenceSeen(
            running=next(iter(running), ""),
            waiting=bool(schedule.raw_description.info.buffer_size),
            version=schedule.raw_description.conflict_token.hex(),
        )
        ids = _last_ids(schedule)
        seen = replace(seen, near=_near(ids, look.workflow_id, schedule.schedule.spec.jitter or NONE))
        newest = await self._newest(run_among(ids, look.workflow_id))
        if newest is None:
            return seen
        seen = replace(seen, run_id=newest.run_id)
        if newest.status in GOES_ON:
            return replace(seen, running=seen.running or look.workflow_id)
        outcome, reason = await self._ending(newest)
        return replace(seen, outcome=outcome, reason=reason)

    @activity.defn(name=ASK_FOR_OCCURRENCE)
    async def ask_for_occurrence(self, ask: OccurrenceAsk) -> None:
        """Asks the schedule to start it; starts it with `rerun`, and where a sync has given the schedule other times.

        Does nothing once there is another run than `before`. A schedule starts it behind what is running, so that no two of the job
        run at once. Raises ApplicationError GONE, UNCERTAIN, and NO_SUCH_TIME where a time that a sync has taken away cannot be
        started: beside a run of the job, or where an earlier request may have been taken.
        """
        newest = await self._newest(ask.workflow_id)
        if newest is not None and newest.run_id != ask.before:
            return
        if ask.rerun:
            await self._start(ask)
            return
        attempt = activity.info().attempt
        try:
            await OccurrenceRequest(self._client, ask).send(attempt)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                raise _gone(ask.schedule) from None
            raise
        except ApplicationError as error:
            if error.type != NO_SUCH_TIME or attempt > 1 or ask.number:  # an earlier request may have been taken
                raise
            if not ask.side_by_side and _running(await self._schedule(ask.schedule)):
                raise
            await self._start(ask)

    @activity.defn(name=RESUME_SCHEDULE)
    async def resume_schedule(self, order: ResumeOrder) -> str:
        """Ends the pause if it is still the one that was meant, and says what it did; an edit in between wins."""
        request = DescribeScheduleRequest(namespace=self._client.namespace, schedule_id=order.schedule)
        try:
            found = await self._client.workflow_service.describe_schedule(request, timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return "nothing done: the schedule has been deleted"
            raise
        state = found.schedule.state
        if not state.paused:
            return "resumed" if state.notes == order.resumed else "nothing done: it is no longer paused"
        if state.notes == MOVING:
            raise ApplicationError("Temporal is moving the schedule to its other scheduler", type="moving")
        if state.notes != order.note:
            return f"nothing done: it is now paused for another reason: {state.notes}"
        state.paused, state.notes = False, order.resumed
        update = UpdateScheduleRequest(
            namespace=self._client.namespace,
            schedule_id=order.schedule,
            schedule=found.schedule,
            conflict_token=found.conflict_token,
            identity=self._client.identity,
            request_id=f"{activity.info().workflow_run_id}-{activity.info().attempt}",
        )
        await self._client.workflow_service.update_schedule(update, timeout=RPC_TIMEOUT)
        raise ApplicationError("whether the server took it is read back by the next attempt", type="not_read_back")

    async def _schedule(self, schedule_id: str) -> ScheduleDescription:
        try:
            return await self._client.get_schedule_handle(schedule_id).describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                raise _gone(schedule_id) from None
            raise

    async def _newest(self, workflow_id: str) -> WorkflowExecutionDescription | None:
        try:
            return await self._client.get_workflow_handle(workflow_id).describe(rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return None
            raise

    async def _ending(self, run: WorkflowExecutionDescription) -> tuple[str, str]:
        """Outcome and reason of a run that has ended, also of one that is no JobWorkflow."""
        handle = self._client.get_workflow_handle(run.id, run_id=run.run_id)
        try:
            result = await handle.result(follow_runs=False, rpc_timeout=RPC_TIMEOUT)
        except WorkflowFailureError as error:
            return _failure(error.cause)
        if isinstance(result, dict) and isinstance(result.get("outcome"), str):
            return result["outcome"], str(result.get("reason", ""))
        return "succeeded", ""

    async def _start(self, ask: OccurrenceAsk) -> None:
        """By hand, under the occurrence's id, with what the schedule has now and, for a rerun, what was asked for."""
        action: Any = (await self._schedule(ask.schedule)).schedule.action
        args = await self._client.data_converter.decode(action.args)
        if ask.rerun:
            [request, *others] = args
            steps = [{**step, "params": ask.params.get(step["name"], step["params"])} for step in request["steps"]]
            args = [{**request, "steps": steps, "rerun": ask.rerun}, *others]
        try:
            await self._client.start_workflow(
                action.workflow,
                args=args,
                id=ask.workflow_id,
                task_queue=action.task_queue,
                execution_timeout=action.execution_timeout,
                run_timeout=action.run_timeout,
                task_timeout=action.task_timeout,
                retry_policy=action.retry_policy,
                search_attributes=action.typed_search_attributes,
                memo={ASKED_MEMO: ask.by},
                static_summary=f"asked for by {ask.by}",
            )
        except WorkflowAlreadyStartedError:
            return


def _gone(schedule_id: str) -> ApplicationError:
    return ApplicationError(f"the schedule `{schedule_id}` has been deleted", type=GONE, non_retryable=True)


def _running(schedule: ScheduleDescription) -> list[ScheduleActionExecutionStartWorkflow]:
    actions = schedule.info.running_actions
    return [action for action in actions if isinstance(action, ScheduleActionExecutionStartWorkflow)]


def _last_ids(schedule: ScheduleDescription) -> list[str]:
    """Workflow ids of the runs that the schedule started last, and of those that go on."""
    recent = [each.action for each in schedule.info.recent_actions]
    starts = [each for each in recent if isinstance(each, ScheduleActionExecutionStartWorkflow)]
    return [each.workflow_id for each in (*starts, *_running(schedule))]


def _near(ids: Iterable[str], workflow_id: str, jitter: timedelta) -> list[str]:
    """Those of times after the one of this id, and no later than the jitter."""
    at, job = scheduled_time(workflow_id), job_of(workflow_id)
    times = {each: scheduled_time(each) for each in ids if job_of(each) == job}
    return sorted(each for each, time in times.items() if at and time and at < time <= at + jitter)


def _failure(cause: BaseException | None) -> tuple[str, str]:
    match cause:
        case CancelledError():
            return "cancelled", cause.message
        case TerminatedError():
            return "terminated", cause.message
        case ApplicationError():
            return (cause.type or "failed"), cause.message
        case _:
            return "failed", str(cause)
