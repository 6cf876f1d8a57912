"""What a real worker serves at /metrics."""

from __future__ import annotations

import asyncio
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families
from temporalio.client import Client

from tests.processes import RunningWorker, worker
from tests.runs import request, shell, start
from tests.servers import DevServer


async def samples(running: RunningWorker) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample of the page by its name and labels."""
    status, text = await running.get("/metrics")
    assert status == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_the_metrics_of_the_sdk_are_among_ours(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    labels = frozenset({"namespace": "default", "task_queue": name}.items())
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        for second in (1, 2, 3):
            await (await start(client, request(job=name), name, f"2027-03-01T13:00:0{second}Z")).result()
        found = await samples(running)
    latency = "temporal_activity_schedule_to_start_latency_seconds"
    count = found[f"{latency}_count", labels]
    assert count in {3, 4}, "with the activity that a new build is told to"
    assert found[f"{latency}_bucket", labels | {("le", "+Inf")}] == count
    assert 0 < found[f"{latency}_sum", labels] < 10
    assert found["temporal_workflow_completed_total", labels | {("workflow_type", "JobWorkflow")}] == 3
    assert found["temporal_worker_task_slots_available", labels | {("worker_type", "ActivityWorker")}] == 100


async def test_what_waits_is_counted(server: DevServer, client: Client, name: str, tmp_path: Path) -> None:
    """One step holds the only place; the tasks of two more wait."""
    labels = frozenset({"task_queue": name, "kind": "activity"}.items())
    settings = {"task_queue": name, "allow_commands": "true", "max_concurrent_steps": "1", "backlog_interval": "1s"}
    async with worker(server.address, cwd=tmp_path, **settings) as running:
        waits = shell("until [ -e go ]; do sleep 0.05; done")
        runs = [
            await start(client, request(params=waits, job=name), name, f"2027-03-01T13:00:0{n}Z") for n in (1, 2, 3)
        ]
        async with asyncio.timeout(30):
            while (found := await samples(running)).get(("tickwright_task_queue_backlog", labels)) != 2:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.2)
        assert 0 < found["tickwright_task_queue_backlog_age_seconds", labels] < 30
        (tmp_path / "go").touch()
        for run in runs:
            await run.result()
