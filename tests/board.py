"""A namespace of many jobs with a day of mixed outcomes behind them: real schedules, and real runs under the ids of their times.

What becomes of a time follows from the job and the hour alone, so that a test can count without asking the server.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.api.workflowservice.v1 import CountWorkflowExecutionsRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.contract import (
    JOB_WORKFLOW,
    OUTCOME_ATTRIBUTE,
    OWNER_ATTRIBUTE,
    JobRequest,
    JobResult,
    Outcome,
    TimesRequest,
)
from activities.occurrence import stamp
from schedules.compile.job import compile_project
from schedules.lint.load import load_checked
from schedules.server.gateway import TemporalGateway
from schedules.sync.apply import Applier
from schedules.sync.audit import audit_of
from schedules.sync.reconcile import plan_sync

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from pathlib import Path

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
MARGIN = 6
"""Minutes around that of the start at which nothing fires, so that no count changes while a test looks."""
TEAMS = ("ledger", "search", "growth", "platform")
THINGS = ("invoice", "catalog", "mailing", "ledger", "warehouse", "session", "report", "backup", "index", "payout")
DEEDS = ("sync", "export", "cleanup", "digest", "rebuild", "reconcile", "import", "rotate", "archive", "check")
QUEUE, NOBODY = "tickwright", "nobody"
HEAD = "version: 1\nproject: shop\ndefaults: {timezone: UTC, timeout: 5m}\njobs:\n"
RUN, COUNTED = 'run: {command: ["true"]}', 'counted: "yes"'
OTHERS: dict[int, Outcome] = {3: "failed", 4: "too_late", 5: "superseded", 6: "cancelled"}
"""Of a draw of 101."""
OUTCOME = SearchAttributeKey.for_keyword(OUTCOME_ATTRIBUTE)
OWNER = SearchAttributeKey.for_keyword(OWNER_ATTRIBUTE)
OWNED_BY = "shop/default"
STARTS = 40
"""At a time."""
BEATS = 300
"""Runs of the job of every minute: more than a Memory keeps."""


def name_of(number: int) -> str:
    """The name of a job."""
    more = "" if number < len(THINGS) * len(DEEDS) else f"-{number // (len(THINGS) * len(DEEDS)) + 1}"
    return f"{THINGS[number % 10]}-{DEEDS[(number // 10 + number) % 10]}{more}"


NUMBERS = {name_of(number): number for number in range(2_000)}


def outcome(name: str, hour: int) -> Outcome:
    """What a job's run of an hour of the day ends as."""
    number = NUMBERS.get(name, 1)
    draw = (number * 31 + hour * 17) % 101
    if number % 50 == 7:
        return "failed" if draw < 60 else "succeeded"
    return OTHERS.get(draw, "succeeded") if number % 4 == 0 else "succeeded"


@dataclass(frozen=True)
class Sample:
    """One job: `hours` is how many hours lie between its times."""

    number: int
    minute: int
    hours: int

    @property
    def name(self) -> str:
        return name_of(self.number)

    @property
    def paused(self) -> bool:
        return self.number % 67 == 13

    def times(self, since: datetime, until: datetime) -> list[datetime]:
        """After since and up to until, by plain arithmetic."""
        first = since.replace(minute=self.minute, second=0, microsecond=0) - HOUR
        hours = (first + place * HOUR for place in range(int((until - since) / HOUR) + 3))
        return [at for at in hours if since < at <= until and at.hour % self.hours == 0]


def samples(count: int, now: datetime) -> list[Sample]:
    """One in twenty runs every hour, the others every eight."""
    free = 60 - 2 * MARGIN
    return [
        Sample(number, (now.minute + MARGIN + number * 13 % free) % 60, 1 if number % 20 == 3 else 8)
        for number in range(count)
    ]


def counted(jobs: Sequence[Sample], now: datetime) -> Counter[str]:
    """By the words of the page: what it should say of the 24 hours before `now`."""
    words = {"too_late": "missed", "superseded": "left_out"}
    found: Counter[str] = Counter()
    for job in jobs:
        found.update(words.get(each := outcome(job.name, at.hour), each) for at in job.times(now - DAY, now))
    return found


def spec_text(jobs: Sequence[Sample], *, busy: bool) -> str:
    """The spec file; `busy` adds one of every minute, and two of which a run goes on or waits."""
    lines = [
        f'{job.name}: {{schedule: "{job.minute} */{job.hours} * * *", {RUN}, labels: {{team: {TEAMS[job.number % 4]}, {COUNTED}}}}}'
        for job in jobs
    ]
    if busy:
        lines += [f"heartbeat: {{schedule: {{every: 1m}}, overlap: allow_all, {RUN}, labels: {{team: platform}}}}"]
        lines += [f'warehouse-load: {{schedule: "0 0 1 1 *", {RUN}, labels: {{team: ledger}}}}']
        lines += [f'orphan-feed: {{schedule: "0 0 1 1 *", task_queue: {NOBODY}, {RUN}, labels: {{team: growth}}}}']
    return HEAD + "".join(f"  {line}\n" for line in lines)


@workflow.defn(name=JOB_WORKFLOW)
class Run:
    """Runs the jobs, and ends each time as it should."""

    @workflow.run
    async def run(self, _request: JobRequest) -> JobResult:
        name, hour = workflow.info().workflow_id[:-21], int(workflow.info().workflow_id[-9:-7])
        if name == "warehouse-load":
            await workflow.wait_condition(lambda: False)
        end = outcome(name, hour)
        result = JobResult(end, "", 0.0, 0.0, 1, reason="" if end == "succeeded" else f"step `main`: {end}")
        if end == "failed":
            raise ApplicationError("step `main`: exit code 3: the bank does not answer", result, non_retryable=True)
        if end != "succeeded":
            workflow.upsert_search_attributes([OUTCOME.value_set(end)])
        return result


async def make(client: Client, folder: Path, now: datetime) -> int:
    """Schedules of the specs in a folder; how many."""
    project = load_checked([str(folder)], None)
    gateway, desired = TemporalGateway(client), compile_project(project, now)
    if missing := await gateway.missing_attributes():
        await gateway.add_attributes(missing)
    plan = await plan_sync(gateway, project.owner, desired, now, deep=False)
    results = await Applier(plan, gateway, audit_of(())).apply(asyncio.Event(), lambda _: None)
    assert {each.result for each in results} == {"applied"}
    return len(desired)


async def start(client: Client, names_and_times: Iterable[tuple[str, datetime]], owner: str) -> int:
    """The runs of these times, as a schedule would start them but for its own slow pace; how many."""
    limit = asyncio.Semaphore(STARTS)
    marks = TypedSearchAttributes([SearchAttributePair(OWNER, owner)])

    async def one(name: str, at: datetime) -> None:
        async with limit:
            request = JobRequest("shop", "default", name, TimesRequest("UTC"), [])
            run = f"{name}-{stamp(at)}"
            await client.start_workflow(Run.run, request, id=run, task_queue=QUEUE, search_attributes=marks)

    return len(await asyncio.gather(*(one(*each) for each in names_and_times)))


async def until_ended(client: Client, least: int, seconds: float = 120) -> None:
    """Waits until so many runs have ended."""
    query = "WorkflowType = 'JobWorkflow' AND ExecutionStatus != 'Running'"
    request = CountWorkflowExecutionsRequest(namespace=client.namespace, query=query)
    async with asyncio.timeout(seconds):
        while True:
            if (await client.workflow_service.count_workflow_executions(request)).count >= least:
                return
            await asyncio.sleep(0.2)


@asynccontextmanager
async def sample_day(client: Client, folder: Path, count: int, *, busy: bool = True) -> AsyncIterator[list[Sample]]:
    """So many jobs with a day behind them, and a worker that goes on running them while the block lasts."""
    now = datetime.now(UTC)
    jobs = samples(count, now)
    (folder / "jobs.yaml").write_text(spec_text(jobs, busy=busy))
    await make(client, folder, now)
    runner = UnsandboxedWorkflowRunner()
    async with Worker(client, task_queue=QUEUE, workflows=[Run], workflow_runner=runner):
        past = [(job.name, at) for job in jobs for at in job.times(now - DAY, now)]
        minute = now.replace(second=0, microsecond=0)
        past += [("heartbeat", minute - place * timedelta(minutes=1)) for place in range(1, BEATS if busy else 0)]
        least = await start(client, past, OWNED_BY)
        for name in ("warehouse-load", "orphan-feed") if busy else ():
            await client.get_schedule_handle(name).trigger()
        for job in jobs:
            if job.paused:
                await client.get_schedule_handle(job.name).pause(note="waits for the new bank account")
        await until_ended(client, least)
        yield jobs
