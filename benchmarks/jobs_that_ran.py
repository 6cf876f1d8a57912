"""A namespace of jobs that have all run once, for benchmarks of what looks at it: at all of them, and at a quarter."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from temporalio import workflow
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.contract import JOB_WORKFLOW, OWNER_ATTRIBUTE, JobRequest, JobResult
from activities.occurrence import stamp
from schedules.compile.job import compile_project
from schedules.cron.occurrences import previous_before
from schedules.ledger.records import Records
from schedules.ledger.translate import SCHEDULED_BY
from schedules.lint.load import load_checked
from schedules.model import DesiredSchedule
from schedules.server.gateway import TemporalGateway
from schedules.sync.apply import CONCURRENCY, Applier
from schedules.sync.audit import audit_of
from schedules.sync.reconcile import plan_sync
from worker.dev.embedded import embedded_server

HEAD = """\
version: 1
project: {project}
defaults: {{timezone: UTC, timeout: 5m}}
jobs:
"""
JOB = """\
  {project}-{n}:
    description: Compare the ledger with the bank
    schedule: "{minute} {hour} * * *"
    run: {{command: ["./export.sh"]}}
"""


@workflow.defn(name=JOB_WORKFLOW)
class Nothing:
    """A run that does nothing, so that the server's own limit is met as late as can be."""

    @workflow.run
    async def run(self, _request: JobRequest) -> JobResult:
        return JobResult("succeeded", "", 0.0, 0.0, 0)


def desired_jobs(folder: Path, count: int, project: str) -> tuple[str, dict[str, DesiredSchedule]]:
    """Owner and schedules of daily jobs, spread over the day."""
    folder.mkdir()
    jobs = "".join(JOB.format(project=project, n=n, minute=n % 60, hour=n // 60 % 24) for n in range(count))
    (folder / "jobs.yaml").write_text(HEAD.format(project=project) + jobs)
    given = load_checked([str(folder)], None)
    return given.owner, compile_project(given, datetime.now(UTC))


async def make(client: Client, owner: str, desired: dict[str, DesiredSchedule]) -> None:
    """The schedules on the server."""
    gateway = TemporalGateway(client)
    if missing := await gateway.missing_attributes():
        await gateway.add_attributes(missing)
    plan = await plan_sync(gateway, owner, desired, datetime.now(UTC))
    results = await Applier(plan, gateway, audit_of(())).apply(asyncio.Event(), lambda _: None)
    assert {each.result for each in results} == {"applied"}


async def run_once(client: Client, owner: str, desired: Sequence[DesiredSchedule]) -> None:
    """The last occurrence of each job, as its schedule would have started it: the schedules' own backfill takes thrice as long."""
    limit, now = asyncio.Semaphore(CONCURRENCY), datetime.now(UTC)

    async def one(schedule: DesiredSchedule) -> None:
        at = previous_before(schedule.times, now)
        marks = {SCHEDULED_BY: schedule.id, OWNER_ATTRIBUTE: owner}
        pairs = [SearchAttributePair(SearchAttributeKey.for_keyword(name), mark) for name, mark in marks.items()]
        async with limit:
            await client.start_workflow(
                JOB_WORKFLOW,
                schedule.action.args[0],
                id=f"{schedule.id}-{stamp(at or now)}",
                task_queue=schedule.action.task_queue,
                search_attributes=TypedSearchAttributes(pairs),
            )

    await asyncio.gather(*map(one, desired))


async def settled(records: Records, owner: str, least: int) -> None:
    """Waits until nothing runs any more and List knows of the runs."""
    while True:
        going = await records.runs(f"TickwrightOwner = '{owner}' AND ExecutionStatus = 'Running'", 1)
        if not going.runs and len(await records.jobs(owner)) >= least:
            ended = await records.runs(f"TickwrightOwner = '{owner}' AND ExecutionStatus = 'Completed'")
            if len(ended.runs) >= least:
                return
        await asyncio.sleep(1)


@dataclass(frozen=True)
class Namespace:
    """`looks` are, by name, an owner (None for all of them) and how many jobs are its."""

    client: Client
    address: str
    looks: dict[str, tuple[str | None, int]]


@asynccontextmanager
async def jobs_that_ran(count: int) -> AsyncIterator[Namespace]:
    """Two projects, `quarter` one of them and `whole` both, on an embedded server of their own whose worker stays."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        async with embedded_server(Path(folder) / "server", lambda: None) as server:
            client = await Client.connect(server.address)
            sizes = {"quarter": count // 4, "rest": count - count // 4}
            looks = {"whole": (None, count), "quarter": ("quarter/default", count // 4)}
            async with Worker(
                client, task_queue="tickwright", workflows=[Nothing], workflow_runner=UnsandboxedWorkflowRunner()
            ):
                for project, size in sizes.items():
                    owner, desired = desired_jobs(Path(folder) / project, size, project)
                    await make(client, owner, desired)
                    await run_once(client, owner, list(desired.values()))
                    await settled(Records(client), owner, size)
                print(f"made in {time.perf_counter() - begin:.0f} s", flush=True)
                yield Namespace(client, server.address, looks)
