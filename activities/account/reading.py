"""Reads what the server keeps of one schedule, as far back as is asked for.

A failed request raises RPCError. Only what the server will never tell, such as a history that a client may not see, is left out
of the record.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import (
    DescribeScheduleRequest,
    DescribeWorkflowExecutionRequest,
    GetWorkflowExecutionHistoryReverseRequest,
)
from temporalio.service import RPCError, RPCStatusCode

from activities.account.history import SCHEDULER_PREFIX, SCHEDULER_TYPE, Part, part_of, record_of
from activities.account.record import SchedulerRecord, time_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse
    from temporalio.client import Client

RPC_TIMEOUT = timedelta(seconds=5)
PAGE, MOST_PAGES = 250, 80
"""An occurrence that waits for others makes some eight events; a schedule keeps a thousand waiting at most."""
GOES_ON = frozenset(
    {
        WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING,
        WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW,
    }
)


async def described_schedule(client: Client, schedule: str) -> DescribeScheduleResponse | None:
    """The schedule as it is now; None where there is none. Raises RPCError."""
    request = DescribeScheduleRequest(namespace=client.namespace, schedule_id=schedule)
    try:
        return await client.workflow_service.describe_schedule(request, retry=True, timeout=RPC_TIMEOUT)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise


async def scheduler_record(
    client: Client, schedule: str, described: DescribeScheduleResponse, since: datetime
) -> SchedulerRecord:
    """The record from `since` on, as far as the server keeps one. Raises RPCError."""
    request = DescribeWorkflowExecutionRequest(
        namespace=client.namespace, execution=WorkflowExecution(workflow_id=SCHEDULER_PREFIX + schedule)
    )
    try:
        answer = await client.workflow_service.describe_workflow_execution(request, retry=True, timeout=RPC_TIMEOUT)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return record_of([], described=described)
        if error.status == RPCStatusCode.PERMISSION_DENIED:
            return SchedulerRecord()
        raise
    info = answer.workflow_execution_info
    if info.type.name != SCHEDULER_TYPE:
        return record_of([], described=described)
    parts = [part async for part in _parts(client, schedule, since)]
    ended = None if info.status in GOES_ON else time_of(info.close_time)
    return record_of(parts[::-1], ended, described)


async def _parts(client: Client, schedule: str, since: datetime) -> AsyncIterator[Part]:
    """The runs of a V1 scheduler, newest first, the last of them from `since` on."""
    run: list[HistoryEvent] = []
    async for event in _newest_first(client, schedule):
        run.append(event)
        is_old = time_of(event.event_time) < since
        if is_old or event.HasField("workflow_execution_started_event_attributes"):
            part = part_of(run[::-1])
            run = []
            if part is None:
                return
            yield part
            if is_old:
                return
    if part := part_of(run[::-1]):
        yield part


async def _newest_first(client: Client, schedule: str) -> AsyncIterator[HistoryEvent]:
    """The events of all runs of a scheduler, until the pages are used up."""
    request = GetWorkflowExecutionHistoryReverseRequest(
        namespace=client.namespace,
        execution=WorkflowExecution(workflow_id=SCHEDULER_PREFIX + schedule),
        maximum_page_size=PAGE,
    )
    for _ in range(MOST_PAGES):
        try:
            page = await client.workflow_service.get_workflow_execution_history_reverse(
                request, retry=True, timeout=RPC_TIMEOUT
            )
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND and request.execution.run_id:  # older than the retention
                return
            raise
        for event in page.history.events:
            yield event
        if not page.next_page_token:
            before = event.workflow_execution_started_event_attributes.continued_execution_run_id
            if not before:
                return
            request.execution.run_id = before
        request.next_page_token = page.next_page_token
