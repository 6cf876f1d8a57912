"""Reads from a namespace all that a ledger is made of, in as few calls as it takes; `calls` counts them by kind."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import HistoryEventFilterType
from temporalio.api.workflowservice.v1 import (
    CountWorkflowExecutionsRequest,
    DescribeNamespaceRequest,
    DescribeScheduleRequest,
    DescribeWorkflowExecutionRequest,
    GetWorkflowExecutionHistoryRequest,
    ListSchedulesRequest,
    ListWorkflowExecutionsRequest,
)
from temporalio.service import RPCStatusCode

from activities.account.history import SCHEDULER_PREFIX, SCHEDULER_TYPE, Part, part_of, record_of
from activities.account.record import time_of
from activities.account.silence import signs_of_life
from activities.contract import OWNER_ATTRIBUTE
from activities.occurrence import LAST_MOVED, occurrence_of, stamp
from schedules.errors import ServerError, UndecodableError
from schedules.ledger.chains import chained
from schedules.ledger.port import Found
from schedules.ledger.run_result import failure_message, job_result
from schedules.ledger.translate import job_from_description, job_from_listing, run_from
from schedules.server.calls import Calls
from schedules.server.gateway import TemporalGateway
from schedules.server.pace import Pace
from schedules.server.paging import pages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
    from datetime import datetime

    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.api.workflow.v1 import WorkflowExecutionInfo
    from temporalio.api.workflowservice.v1 import (
        DescribeScheduleResponse,
        DescribeWorkflowExecutionResponse,
        ListWorkflowExecutionsResponse,
    )
    from temporalio.client import Client

    from activities.account.facts import Run
    from activities.account.record import SchedulerRecord
    from activities.contract import JobResult
    from schedules.ledger.facts import Job

DIVISION = "TemporalScheduler"
PAGE = 1000
CONCURRENCY = 20
IDS_A_QUERY = 100
MOST_ENDS, MOST_REMEMBERED_PARTS = 5_000, 500
"""Ends of runs and parts of schedulers' histories that are remembered, the newest."""
MOST_PARTS, MOST_JITTERED, MOST_QUIET = 50, 20, 100
JUST_BEFORE = timedelta(seconds=1)
"""So many histories of a scheduler are read at most; each holds some 500 of its looks."""


class Records:
    """A live namespace as JobRecords, and its workflows and histories as the server has them. Every method raises ServerError."""

    def __init__(self, client: Client, pace: Pace | None = None) -> None:
        self.client = client
        self.calls: Counter[str] = Counter()
        self._service = client.workflow_service
        self._namespace = client.namespace
        self._call = Calls(pace or Pace())
        self._gateway = TemporalGateway(client, pace)
        self._retention: timedelta | None = None
        self._ends: dict[str, tuple[JobResult | None, str]] = {}
        self._parts: dict[str, Part] = {}

    async def jobs(self, owner: str | None) -> list[Job]:
        """See JobRecords."""
        query = f"{OWNER_ATTRIBUTE} = '{owner}'" if owner else f"{OWNER_ATTRIBUTE} IS NOT NULL"
        request = ListSchedulesRequest(namespace=self._namespace, maximum_page_size=PAGE, query=query)
        ask = partial(self._asked, "list schedules", self._service.list_schedules)
        try:
            return [job_from_listing(each) async for page in pages(ask, request) for each in page.schedules]
        except ServerError as error:
            if error.code == RPCStatusCode.INVALID_ARGUMENT.name:  # no sync has ever been here
                return []
            raise

    async def job(self, name: str) -> Job | None:
        """See JobRecords."""
        self.calls["describe schedule"] += 1
        observed = await self._gateway.describe(name)
        return None if observed is None else job_from_description(observed, await self.retention())

    async def retention(self) -> timedelta | None:
        """For how long the namespace keeps what has ended."""
        if self._retention is None:
            request = DescribeNamespaceRequest(namespace=self._namespace)
            answer = await self._asked("describe namespace", self._service.describe_namespace, request)
            self._retention = answer.config.workflow_execution_retention_ttl.ToTimedelta()
        return self._retention or None

    async def runs(self, query: str, most: int | None = None) -> Found:
        """The runs that match a visibility query: those that go on, then those that ended last; `most` of them or all."""
        found: list[Run] = []
        async for page in self._pages(query):
            found.extend(run for execution in page.executions if (run := run_from(execution)) is not None)
            if page.next_page_token and most is not None and len(found) >= most:
                return Found(found, complete=False)
        return Found(found)

    async def runs_of(
        self, job: Job, since: datetime, until: datetime, most: int | None = None, *, open_after: datetime | None = None
    ) -> Found:
        """See JobRecords; the ids of a job's occurrences sort by scheduled time."""
        first, last = (job.occurrence_id(at).replace("'", "''") for at in (since, until))
        query = f"WorkflowId BETWEEN '{first}' AND '{last}{LAST_MOVED}'"
        if open_after:
            query += f" AND (CloseTime > '{stamp(open_after)}' OR ExecutionStatus = 'Running')"
        found = await self.runs(query, most)
        runs = [run for run in found.runs if occurrence_of(run.id) == job.occurrence_id(run.scheduled_at)]
        return replace(found, runs=chained(job, runs))

    async def runs_with(self, attribute: str, values: Sequence[str], also: str = "") -> list[Run]:
        """The runs that have one of the values in an attribute, and match what else is asked for."""
        queries = []
        for first in range(0, len(values), IDS_A_QUERY):
            quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in values[first : first + IDS_A_QUERY])
            queries.append(f"{attribute} IN ({quoted})" + (f" AND {also}" if also else ""))
        found = await gathered(self.runs, queries)
        return [run for each in found for run in each.runs]

    async def with_results(self, runs: Iterable[Run]) -> list[Run]:
        """See JobRecords."""
        return await gathered(self._with_result, runs)

    async def _with_result(self, run: Run) -> Run:
        """What was read of an end is remembered: it never changes."""
        if run.closed_at is None:
            return run
        if run.run_id not in self._ends:
            if (end := await self._end(run)) is None:
                return run
            _remember(self._ends, run.run_id, end, MOST_ENDS)
        result, said = self._ends[run.run_id]
        return replace(run, result=result, said=said or run.said)

    async def _end(self, run: Run) -> tuple[JobResult | None, str] | None:
        """Its JobResult, or else what its failure says; None where the server has forgotten it."""
        only_the_end = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT
        events = await self.history(run.id, run.run_id, only_the_end)
        if not events:
            return None
        converter = self.client.data_converter
        try:
            result = await job_result(events[-1], converter)
            said = "" if result else await failure_message(events[-1], converter)
        except UndecodableError as error:
            return None, str(error)
        return result, said

    async def with_waiting(self, runs: Iterable[Run]) -> list[Run]:
        """See JobRecords."""
        return await gathered(self._with_waiting, runs)

    async def _with_waiting(self, run: Run) -> Run:
        if run.status != "running" or (described := await self.described(run.id, run.run_id)) is None:
            return run
        untouched = described.workflow_execution_info.history_length <= len(("started", "task scheduled"))
        return replace(run, waiting=untouched and described.HasField("pending_workflow_task"))

    async def described(self, workflow_id: str, run_id: str = "") -> DescribeWorkflowExecutionResponse | None:
        """A run as it is now, the newest where none is named; None where the server does not know of it."""
        execution = WorkflowExecution(workflow_id=workflow_id, run_id=run_id)
        request = DescribeWorkflowExecutionRequest(namespace=self._namespace, execution=execution)
        try:
            answer: DescribeWorkflowExecutionResponse = await self._asked(
                "describe run", self._service.describe_workflow_execution, request
            )
        except ServerError as error:
            if error.code == RPCStatusCode.NOT_FOUND.name:
                return None
            raise
        return answer

    async def history(
        self,
        workflow_id: str,
        run_id: str,
        kind: HistoryEventFilterType.ValueType = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT,
    ) -> list[HistoryEvent]:
        """The events of a run; none where the server has forgotten it."""
        events: list[HistoryEvent] = []
        request = GetWorkflowExecutionHistoryRequest(
            namespace=self._namespace,
            execution=WorkflowExecution(workflow_id=workflow_id, run_id=run_id),
            history_event_filter_type=kind,
        )
        ask = partial(self._asked, "history", self._service.get_workflow_execution_history)
        try:
            async for page in pages(ask, request):
                events.extend(page.history.events)
        except ServerError as error:
            if error.code != RPCStatusCode.NOT_FOUND.name:
                raise
        return events

    async def record(self, schedule_id: str, since: datetime, until: datetime) -> SchedulerRecord | None:
        """See JobRecords."""
        query = f"WorkflowId = '{SCHEDULER_PREFIX}{schedule_id}' AND TemporalNamespaceDivision = '{DIVISION}'"
        try:
            executions = await self.newest_executions(query)
        except ServerError as error:
            if error.code in {RPCStatusCode.INVALID_ARGUMENT.name, RPCStatusCode.PERMISSION_DENIED.name}:
                return None
            raise
        wanted = [each for each in executions if _overlaps(each, since, until)][:MOST_PARTS]
        wanted.sort(key=lambda each: each.start_time.ToNanoseconds())
        parts = [part for each in wanted if (part := await self._part(each)) is not None]
        if await self._has_v1_scheduler(schedule_id):
            return record_of(parts) if parts else None
        ended = max((time_of(each.close_time) for each in wanted if each.HasField("close_time")), default=None)
        record = record_of(parts, ended, await self._described_schedule(schedule_id))
        return record if record.spans else None

    async def _has_v1_scheduler(self, schedule_id: str) -> bool:
        """Whether the workflow under the scheduler's id is one, and goes on."""
        found = await self.described(SCHEDULER_PREFIX + schedule_id)
        if found is None or found.workflow_execution_info.type.name != SCHEDULER_TYPE:
            return False
        return not found.workflow_execution_info.HasField("close_time")

    async def _described_schedule(self, schedule_id: str) -> DescribeScheduleResponse | None:
        request = DescribeScheduleRequest(namespace=self._namespace, schedule_id=schedule_id)
        try:
            answer: DescribeScheduleResponse = await self._asked(
                "describe schedule", self._service.describe_schedule, request
            )
        except ServerError as error:
            if error.code == RPCStatusCode.NOT_FOUND.name:
                return None
            raise
        return answer

    async def _part(self, execution: WorkflowExecutionInfo) -> Part | None:
        """What one of a scheduler's workflows did; of one that has ended it is remembered."""
        run_id = execution.execution.run_id
        if run_id in self._parts:
            return self._parts[run_id]
        part = part_of(await self.history(execution.execution.workflow_id, run_id))
        if part and execution.HasField("close_time"):
            _remember(self._parts, run_id, part, MOST_REMEMBERED_PARTS)
        return part

    async def jittered(self, job: Job, times: Sequence[datetime]) -> dict[datetime, datetime]:
        """See JobRecords."""
        if not job.times.jitter or job.deleted_at:
            return {}
        wanted = sorted(times)[-MOST_JITTERED:]
        span = timedelta(seconds=job.times.jitter + 1)
        found = await gathered(lambda at: self._gateway.matching_times(job.name, at - JUST_BEFORE, at + span), wanted)
        return {at: came[0] for at, came in zip(wanted, found, strict=True) if came}

    async def quiet(self, job: Job, times: Sequence[datetime]) -> frozenset[datetime]:
        """See JobRecords."""
        wanted = sorted(times)[-MOST_QUIET:]
        counts = await gathered(lambda at: self._count(signs_of_life(at, job.on_time - job.jitter)), wanted)
        return frozenset(at for at, count in zip(wanted, counts, strict=True) if not count)

    async def _count(self, query: str) -> int:
        request = CountWorkflowExecutionsRequest(namespace=self._namespace, query=query)
        answer = await self._asked("count runs", self._service.count_workflow_executions, request)
        return int(answer.count)

    async def executions(self, query: str) -> list[WorkflowExecutionInfo]:
        """Workflows of any kind that match a visibility query: those that go on, then those that ended last."""
        return [each async for page in self._pages(query) for each in page.executions]

    async def newest_executions(self, query: str) -> Sequence[WorkflowExecutionInfo]:
        """A page of the same."""
        page = await self._list_runs(self._runs_request(query))
        return list(page.executions)

    def _pages(self, query: str) -> AsyncIterator[ListWorkflowExecutionsResponse]:
        return pages(self._list_runs, self._runs_request(query))

    def _runs_request(self, query: str) -> ListWorkflowExecutionsRequest:
        return ListWorkflowExecutionsRequest(namespace=self._namespace, page_size=PAGE, query=query)

    async def _list_runs(self, request: ListWorkflowExecutionsRequest) -> ListWorkflowExecutionsResponse:
        page: ListWorkflowExecutionsResponse = await self._asked(
            "list runs", self._service.list_workflow_executions, request
        )
        return page

    async def _asked(self, what: str, call: Callable[..., Awaitable[Any]], request: Any) -> Any:
        self.calls[what] += 1
        return await self._call(what, call, request)


async def gathered(call: Callable[[Any], Awaitable[Any]], items: Iterable[Any]) -> list[Any]:
    """The results of a call for each of the items, in order, some of them at a time."""
    limit = asyncio.Semaphore(CONCURRENCY)

    async def one(item: Any) -> Any:
        async with limit:
            return await call(item)

    return await asyncio.gather(*map(one, items))


def _remember(known: dict[str, Any], key: str, value: Any, most: int) -> None:
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]


def _overlaps(execution: WorkflowExecutionInfo, since: datetime, until: datetime) -> bool:
    began, ended = execution.start_time, execution.close_time
    after = began.ToDatetime(tzinfo=until.tzinfo) > until
    before = execution.HasField("close_time") and ended.ToDatetime(tzinfo=since.tzinfo) < since
    return not (after or before)
