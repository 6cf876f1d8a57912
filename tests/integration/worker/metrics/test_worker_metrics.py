"""What a real worker serves at /metrics."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from temporalio.client import Client, WorkflowFailureError

from activities.contract import RetryRequest
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
        free = ("temporal_worker_task_slots_available", labels | {("worker_type", "ActivityWorker")})
        ended = ("temporal_workflow_completed_total", labels | {("workflow_type", "JobWorkflow")})
        async with asyncio.timeout(60):
            # A result is there before the worker has counted it and has its place free again.
            while (found := await samples(running)).get(free) != 100 or found.get(ended) != 3:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)
    latency = "temporal_activity_schedule_to_start_latency_seconds"
    count = found[f"{latency}_count", labels]
    assert count in {3, 4}, "with the activity that a new build is told to"
    assert found[f"{latency}_bucket", labels | {("le", "+Inf")}] == count
    assert found[f"{latency}_sum", labels] > 0


async def test_what_waits_is_counted(server: DevServer, client: Client, name: str, tmp_path: Path) -> None:
    """One step holds the only place; the tasks of two more wait, and with them, if it comes later, what a new build is told to."""
    labels = frozenset({"task_queue": name, "kind": "activity"}.items())
    settings = {"task_queue": name, "allow_commands": "true", "max_concurrent_steps": "1", "backlog_interval": "1s"}
    async with worker(server.address, cwd=tmp_path, **settings) as running:
        waits = shell("until [ -e go ]; do sleep 0.05; done")
        runs = [
            await start(client, request(params=waits, job=name), name, f"2027-03-01T13:00:0{n}Z") for n in (1, 2, 3)
        ]
        async with asyncio.timeout(60):
            while (found := await samples(running)).get(("tickwright_task_queue_backlog", labels)) not in {2, 3}:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.2)
        assert 0 < found["tickwright_task_queue_backlog_age_seconds", labels] < 90
        (tmp_path / "go").touch()
        for run in runs:
            await run.result()


async def test_runs_are_counted_once_by_how_they_end(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """With room for two runs in the cache, most of ten runs side by side are evicted and replayed."""
    waits = shell("until [ -e go ]; do sleep 0.05; done")
    settings = {"task_queue": name, "allow_commands": "true", "max_cached_workflows": "2", "build_id": "x"}
    async with worker(server.address, cwd=tmp_path, **settings) as running:
        runs = [
            await start(client, request(params=waits, job=name), name, f"2027-03-01T13:00:{n:02}Z") for n in range(10)
        ]
        cancelled = await start(
            client, request(params=shell("sleep 60"), job=name), name, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        )
        await asyncio.sleep(1)
        await cancelled.cancel()
        (tmp_path / "go").touch()
        for run in runs:
            await run.result()
        with pytest.raises(WorkflowFailureError):
            await cancelled.result()
        found = await samples(running)
    assert found["tickwright_runs_total", frozenset({"job": name, "outcome": "succeeded"}.items())] == 10
    assert found["tickwright_runs_total", frozenset({"job": name, "outcome": "cancelled"}.items())] == 1
    assert found["tickwright_run_duration_seconds_count", frozenset({("job", name)})] == 11
    assert found["tickwright_run_lateness_seconds_count", frozenset({("job", name)})] == 11
    assert (
        found[
            "tickwright_worker_info", frozenset({"namespace": "default", "task_queue": name, "build_id": "x"}.items())
        ]
        == 1
    )


async def test_a_failing_run_shows_its_attempts_and_the_kinds_of_their_errors(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """Three attempts: exit codes 3, 3 and 4; a second apart, which is a part of how long the step took."""
    line = shell("echo x >>n; [ $(wc -l <n) -lt 3 ] && exit 3; exit 4")
    retry = RetryRequest(max_attempts=3, backoff="fixed", initial=1.0)
    now = datetime.now(UTC) - timedelta(seconds=20)
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        run = await start(client, request(params=line, job=name, retry=retry), name, f"{now:%Y-%m-%dT%H:%M:%SZ}")
        with pytest.raises(WorkflowFailureError):
            await run.result()
        found = await samples(running)
    assert found["tickwright_runs_total", frozenset({"job": name, "outcome": "failed"}.items())] == 1
    of_step = {"job": name, "step": "run"}
    kinds = {f"exit code {code}": count for code, count in ((3, 2), (4, 1))}
    for kind, count in kinds.items():
        assert found["tickwright_handler_errors_total", frozenset({**of_step, "type": kind}.items())] == count
    assert 2 <= found["tickwright_step_duration_seconds_sum", frozenset(of_step.items())] < 60
    assert found["tickwright_attempt_duration_seconds_count", frozenset(of_step.items())] == 3
    assert 20 <= found["tickwright_run_lateness_seconds_sum", frozenset({("job", name)})] < 80
