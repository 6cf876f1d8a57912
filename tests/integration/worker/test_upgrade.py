"""Workers of an old and a new build side by side: a run that is under way goes on under the new one's code."""

from __future__ import annotations

import asyncio
import shutil
import signal
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle

from activities.contract import JobResult
from tests.processes import ROOT, worker
from tests.runs import request, shell, start
from tests.servers import DevServer

PACKAGES = ("activities", "schedules", "worker", "workflows")
BEGINNING = "        occurrence = Occurrence(request)\n"
PATCHED = '        if workflow.patched("waits-first"):\n            await workflow.sleep(0.1)\n'
UNPATCHED = "        await workflow.sleep(0.1)\n"
WAITS = "until [ -e go ]; do sleep 0.05; done"


def build(folder: Path, change: str) -> Path:
    """The product with a workflow that does something more at its beginning."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package)
    job = folder / "workflows" / "job.py"
    text = job.read_text(encoding="utf-8")
    assert text.count(BEGINNING) == 1
    job.write_text(text.replace(BEGINNING, change + BEGINNING), encoding="utf-8")
    return folder


async def events(run: WorkflowHandle[object, JobResult], kind: EventType.ValueType) -> int:
    return len([event async for event in run.fetch_history_events() if event.event_type == kind])


async def test_a_run_in_mid_step_survives_an_upgrade_and_new_runs_take_the_new_path(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    new = build(tmp_path / "new", PATCHED)
    settings = {"task_queue": name, "allow_commands": "true", "drain_timeout": "1s"}
    async with worker(server.address, cwd=tmp_path, build_id="old", **settings) as old:
        under_way = await start(client, request(params=shell(WAITS), job=name), name)
        await old.until_log("step_started")
        async with worker(server.address, cwd=tmp_path, build_id="new", PYTHONPATH=str(new), **settings) as upgraded:
            old.signal(signal.SIGTERM)
            await upgraded.until_log("step_started")
            assert await old.wait() == 0
            (tmp_path / "go").touch()
            assert (await under_way.result()).outcome == "succeeded"
            later = await start(client, request(params=shell(WAITS), job=name), name, "2027-03-02T13:00:00Z")
            assert (await later.result()).outcome == "succeeded"
    assert await events(under_way, EventType.EVENT_TYPE_TIMER_FIRED) == 0
    assert await events(later, EventType.EVENT_TYPE_TIMER_FIRED) == 1


async def test_a_change_without_a_patch_would_hold_the_run_up_until_the_old_build_is_back(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    wrong = build(tmp_path / "wrong", UNPATCHED)
    settings = {"task_queue": name, "allow_commands": "true", "drain_timeout": "1s"}
    async with worker(server.address, cwd=tmp_path, **settings) as old:
        under_way = await start(client, request(params=shell(WAITS), job=name), name)
        await old.until_log("step_started")
        old.signal(signal.SIGTERM)
        await old.wait()
    (tmp_path / "go").touch()
    async with worker(server.address, cwd=tmp_path, PYTHONPATH=str(wrong), **settings) as broken:
        await broken.until(lambda: any("Nondeterminism" in line for line in broken.err), "no word of it")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await under_way.result()
    async with worker(server.address, cwd=tmp_path, **settings):
        assert (await under_way.result()).outcome == "succeeded"
