"""What `status` costs: `python benchmarks/bench_status.py [jobs]`, on an embedded server with a worker that runs all of them.

Prints time, calls of the server by kind and peak memory of a process of its own, for all jobs and for a quarter of them, and
fails where the time is not about linear, a namespace in which all is well needs more than pages, or memory is over the limit.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from temporalio import workflow
from temporalio.client import Client, ScheduleBackfill, ScheduleOverlapPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.contract import JOB_WORKFLOW, JobRequest, JobResult
from schedules.apply import CONCURRENCY, Applier
from schedules.audit import audit_of
from schedules.compile import compile_project
from schedules.gateway import TemporalGateway
from schedules.ledger.overview import Overview, overview
from schedules.ledger.records import Records
from schedules.load import load_checked
from schedules.model import DesiredSchedule
from schedules.reconcile import Depth, plan_sync
from worker.embedded import embedded_server

ROUNDS = 3
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
DAY = timedelta(days=1)
ALLOWED = {"per job, whole / quarter": 1.5, "calls / 1,000 jobs": 6.0, "MB": 400.0}


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
    plan = await plan_sync(gateway, owner, desired, datetime.now(UTC), depth=Depth(sure=False))
    results = await Applier(plan, gateway, audit_of(())).apply(asyncio.Event(), lambda _: None)
    assert {each.result for each in results} == {"applied"}


async def run_once(client: Client, names: Sequence[str]) -> None:
    """A backfill of the last day."""
    limit, now = asyncio.Semaphore(CONCURRENCY), datetime.now(UTC)

    async def one(name: str) -> None:
        async with limit:
            handle = client.get_schedule_handle(name)
            await handle.backfill(
                ScheduleBackfill(start_at=now - DAY, end_at=now, overlap=ScheduleOverlapPolicy.ALLOW_ALL)
            )

    await asyncio.gather(*map(one, names))


async def settled(records: Records, owner: str, least: int) -> None:
    """Waits until nothing runs any more and List knows of the runs."""
    while True:
        going = await records.runs(f"TickwrightOwner = '{owner}' AND ExecutionStatus = 'Running'")
        ended = await records.runs(f"TickwrightOwner = '{owner}' AND ExecutionStatus = 'Completed'")
        if not going.runs and len(ended.runs) >= least and len(await records.jobs(owner)) >= least:
            return
        await asyncio.sleep(1)


async def look(client: Client, owner: str) -> tuple[float, Records, Overview]:
    """Seconds, calls and result of one status."""
    records, begin, now = Records(client), time.perf_counter(), datetime.now(UTC)
    jobs = await records.jobs(owner)
    found = await overview(records, jobs, owner, now - DAY, now, all_jobs=True)
    return time.perf_counter() - begin, records, found


def command(owner: str, address: str) -> tuple[float, float, int]:
    """Wall time in seconds, peak memory in MB and number of jobs of `python -m schedules status`."""
    begin = time.perf_counter()
    env = {**os.environ, "TEMPORAL_ADDRESS": address, "PYTHONPATH": str(Path(__file__).parents[1])}
    argv = [sys.executable, "-m", "schedules", "status", "--owner", owner, "--output", "json"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, len(json.loads(done.stdout)["jobs"])


def report(name: str, value: float, detail: str) -> bool:
    """Prints a figure beside what is allowed; whether it is."""
    fine = value <= ALLOWED[name]
    print(f"{name}: {value:.2f} (<= {ALLOWED[name]:g}: {'yes' if fine else 'NO'}) {detail}", flush=True)
    return fine


async def measure(client: Client, root: Path, count: int, address: str) -> bool:
    """All figures; whether each is within what is allowed."""
    sizes = {"bench": count, "quarter": count // 4}
    seconds: dict[str, list[float]] = {project: [] for project in sizes}
    records, total = Records(client), 0
    async with Worker(
        client, task_queue="tickwright", workflows=[Nothing], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        for project, size in sizes.items():
            owner, desired = desired_jobs(root / project, size, project)
            await make(client, owner, desired)
            await run_once(client, list(desired))
            await settled(records, owner, size)
        for _ in range(ROUNDS):
            for project in sizes:
                took, records, found = await look(client, f"{project}/default")
                seconds[project].append(took)
                print(
                    f"{project}: {len(found.states):,} jobs, {found.runs:,} runs: {took:.2f} s, calls {dict(records.calls)}"
                )
                total = sum(records.calls.values()) if project == "bench" else total
    whole, quarter = (min(seconds[project]) for project in sizes)
    wall, memory, shown = await asyncio.to_thread(command, "bench/default", address)
    assert shown == count
    print(f"the whole command: {wall:.2f} s")
    return all(
        [
            report("per job, whole / quarter", whole / quarter / 4, ""),
            report("calls / 1,000 jobs", total / count * 1000, f"{total} calls"),
            report("MB", memory, "peak of the command"),
        ]
    )


async def main(count: int) -> int:
    """Prints the figures; 1 if one is worse than allowed."""
    with tempfile.TemporaryDirectory() as folder:
        async with embedded_server(Path(folder) / "server", lambda: None) as server:
            client = await Client.connect(server.address)
            return int(not await measure(client, Path(folder), count, server.address))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)))
