"""Preflight against real workers: what they offer, and that asking leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from temporalio.client import Client

from activities.contract import WorkerOffer
from schedules.workers import Workers
from tests.deploy import Deploy
from tests.processes import worker
from tests.servers import DevServer

MODULE = """
from temporalio import workflow
from activities import handler

@handler("delete-old-rows")
def delete() -> None: ...

@workflow.defn(name="Close")
class Close:
    @workflow.run
    async def run(self) -> None: ...
"""


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    (tmp_path / "specs").mkdir()
    (tmp_path / "shop.py").write_text(MODULE)
    return Deploy(tmp_path / "specs", server.environ, name)


def fill(deploy: Deploy, queue: str) -> None:
    for name, run in {
        "good": {"python": {"handler": "delete-old-rows"}},
        "child": {"workflow": {"type": "Close"}},
        "bad": {"python": {"handler": "delete-old-row"}},
        "unknown": {"workflow": {"type": "Open"}},
    }.items():
        deploy.job(name, run=run, task_queue=queue)


async def test_handlers_and_workflow_types_that_the_worker_lacks_are_told_before_anything_is_made(
    deploy: Deploy, server: DevServer, name: str, tmp_path: Path
) -> None:
    fill(deploy, name)
    async with worker(server.address, cwd=tmp_path, task_queue=name, modules="shop") as running:
        await running.until_ready()
        strict = await deploy.run("--strict")
        assert strict.code == 1
        assert "refused with --strict; nothing was changed" in strict.stderr
        assert f"no handler `delete-old-row` in the worker asked on task queue `{name}`" in strict.stderr
        assert "it has `delete-old-rows`" in strict.stderr
        assert "no workflow type `Open`" in strict.stderr
        assert "`delete-old-rows` in the worker asked" not in strict.stderr
        assert "type `Close`" not in strict.stderr

        asked = await deploy.run()
        assert asked.code == 0
        assert "warning: no handler `delete-old-row`" in asked.stderr

        del deploy.jobs[f"{deploy.project}-bad"], deploy.jobs[f"{deploy.project}-unknown"]
        right = await deploy.run("--strict")
        assert right.code == 0, right.stderr
        assert "warning" not in right.stderr


async def test_a_queue_without_a_worker_is_told_and_refused_only_with_strict(deploy: Deploy, name: str) -> None:
    deploy.job("close", task_queue=name)
    strict = await deploy.run("--check", "--strict")
    assert strict.code == 1
    assert f"no worker polls task queue `{name}`" in strict.stderr
    silent = await deploy.run("--check", "--strict", "--no-preflight")
    assert silent.code == 3


@pytest.mark.skipif("SOAK_RUNS" not in os.environ, reason="the server deletes an ended workflow after 20 to 90 seconds")
async def test_asking_leaves_nothing_behind(server: DevServer, name: str, tmp_path: Path, client: Client) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name) as running:
        await running.until_ready()
        offer = await Workers(client).offer(name)
    assert offer == WorkerOffer([], ["JobWorkflow"])
    async with asyncio.timeout(200):
        while [run.id async for run in client.list_workflows(f"TaskQueue = '{name}'")]:
            pass


async def test_a_server_with_no_such_queue_has_no_poller_and_its_namespace_a_limit(client: Client, name: str) -> None:
    """Two million bytes is the dev server's limit of one blob."""
    workers = Workers(client)
    assert not await workers.polls(name)
    assert await workers.largest_payload() == 2 * 1024 * 1024
