"""Preflight against real workers: what they offer, and that asking leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.contract import OfferQuestion, WorkerOffer
from schedules.server.gateway import TemporalGateway
from schedules.server.workers import Workers
from tests.deploy import Deploy
from tests.processes import started, worker
from tests.servers import DevServer
from tests.waiting import until

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
        assert f"no handler `delete-old-row` in the worker of task queue `{name}`" in strict.stderr
        assert "there is `delete-old-rows`" in strict.stderr
        assert "no workflow type `Open`" in strict.stderr
        assert "`delete-old-rows` in the worker" not in strict.stderr
        assert "type `Close`" not in strict.stderr
        assert f"+ create {deploy.project}-good" in strict.stderr, "what is refused is shown"

        asked = await deploy.run()
        assert asked.code == 0
        assert "warning: no handler `delete-old-row`" in asked.stderr

        del deploy.jobs[f"{deploy.project}-bad"], deploy.jobs[f"{deploy.project}-unknown"]
        right = await deploy.run("--strict")
        assert right.code == 0, right.stderr
        assert "warning" not in right.stderr


async def test_every_worker_of_a_queue_is_asked(
    deploy: Deploy, server: DevServer, name: str, tmp_path: Path, client: Client
) -> None:
    """Runs that land on the second worker would fail."""
    deploy.job("good", run={"python": {"handler": "delete-old-rows"}}, task_queue=name)
    deploy.job("dump", run={"command": ["pg_dump", "${secret:DB}"]}, task_queue=name)
    settings = {"allow_commands": "true", "TICKWRIGHT_SECRET_DB": "secret-of-the-database"}
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, modules="shop", **settings),
        worker(server.address, cwd=tmp_path, task_queue=name) as bare,
    ):
        strict = await deploy.run("--strict")
        assert strict.code == 1
        those = f"in 1 of the 2 workers of task queue `{name}` ({bare.pid}@"
        for what in ("handler `delete-old-rows`", "commands are allowed", "secret `DB`"):
            assert f"no {what} {those}" in strict.stderr
        answers = await Workers(client).answers(name, OfferQuestion(secrets=["DB"]))
    assert sorted((answer.commands, answer.missing_secrets) for answer in answers if answer) == [
        (False, ["DB"]),
        (True, []),
    ]


async def test_the_command_that_is_advised_runs_the_job(
    deploy: Deploy, server: DevServer, name: str, tmp_path: Path, client: Client
) -> None:
    queue = f"{name} of two words"
    deploy.job("touch", run={"command": ["touch", str(tmp_path / "touched")]}, task_queue=queue)
    warned = await deploy.run()
    assert warned.code == 0
    [settings] = re.findall(r"start one with (.+?) tickwright worker", warned.stderr)
    given = dict(word.split("=", 1) for word in shlex.split(settings))
    async with worker(server.address, cwd=tmp_path, **given):
        await client.get_schedule_handle(f"{deploy.project}-touch").trigger()
        async with asyncio.timeout(60):
            await until((tmp_path / "touched").exists)


async def test_a_queue_without_a_worker_is_told_and_refused_only_with_strict(deploy: Deploy, name: str) -> None:
    deploy.job("close", task_queue=name)
    strict = await deploy.run("--check", "--strict")
    assert strict.code == 1
    assert f"no worker polls task queue `{name}`" in strict.stderr
    silent = await deploy.run("--check", "--strict", "--no-preflight")
    assert silent.code == 3


@pytest.mark.parametrize("look", [[], ["--dry-run"], ["--check"], ["--plan-out", "plan.json"]])
async def test_what_strict_refuses_is_shown_all_the_same(
    deploy: Deploy, name: str, client: Client, tmp_path: Path, look: list[str]
) -> None:
    deploy.job("close", task_queue=name)
    file = tmp_path / "plan.json"
    look = [str(file) if word == "plan.json" else word for word in look]
    strict = await deploy.run("--strict", *look)
    assert strict.code == 1
    assert f"+ create {deploy.project}-close\n" in strict.stderr
    assert strict.stderr.count(f"no worker polls task queue `{name}`") == 1
    told = await deploy.run("--strict", *look, "--output", "json")
    assert told.code == 1
    document = json.loads(told.stdout)
    assert [(change["action"], change["result"]) for change in document["changes"]] == [("create", "planned")]
    assert document["error"].startswith("refused with --strict; nothing was changed")
    assert f"no worker polls task queue `{name}`" in document["warnings"][0]
    comment = await deploy.run("--strict", *look, "--output", "markdown")
    assert comment.code == 1
    assert "❌ refused with \\-\\-strict; nothing was changed" in comment.stdout
    assert f"#### + create `{deploy.project}-close`\n" in comment.stdout
    assert await TemporalGateway(client).describe(f"{deploy.project}-close") is None
    assert not file.exists()


async def test_a_namespace_that_has_seen_no_sync_is_no_reason_to_refuse(
    tmp_path: Path, start_server: Any, name: str
) -> None:
    """The first sync registers the search attributes by itself."""
    fresh: DevServer = await asyncio.to_thread(start_server, owner_attribute=False)
    deploy = Deploy(tmp_path, fresh.environ, name)
    deploy.job("close", task_queue=name)
    async with worker(fresh.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        look = await deploy.run("--check", "--strict")
        assert look.code == 3, look.stderr
        assert "warning: the namespace lacks the search attributes TickwrightOwner, TickwrightHash" in look.stderr
        assert (await deploy.run("--strict")).code == 0


async def test_a_queue_that_lost_its_workers_is_told_though_no_job_changes(deploy: Deploy, name: str) -> None:
    """Whether it is looked at where there is nothing to do is the user's word: a sync of ten thousand jobs stays quick."""
    deploy.job("close", task_queue=name)
    await deploy.sync()
    warning = f"no worker polls task queue `{name}`: `{deploy.project}-close` would wait"
    assert warning not in (await deploy.run()).stderr
    for look in ("--dry-run", "--check", "--deep"):
        looked = await deploy.run(look)
        assert (looked.code, warning in looked.stderr) == (0, True)
    strict = await deploy.run("--strict")
    assert (strict.code, warning in strict.stderr) == (1, True)
    deploy.job("open")
    assert warning in (await deploy.run()).stderr


@workflow.defn(name="TickwrightOffer")
class Silent:
    """A question that no worker ever answers."""

    @workflow.run
    async def run(self) -> None:
        await workflow.wait_condition(lambda: False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_sync_that_is_interrupted_while_it_asks_takes_its_question_back(
    deploy: Deploy, client: Client, name: str, number: signal.Signals
) -> None:
    """Sooner than the ten seconds after which the server ends the question."""
    deploy.job("clean", task_queue=name, run={"python": {"handler": "delete-old-rows"}})
    deploy.write()
    worker = Worker(client, task_queue=name, workflows=[Silent], workflow_runner=UnsandboxedWorkflowRunner())
    async with worker, started("schedules.sync", deploy.folder, "--output", "json", env=deploy.environ) as running:
        while not (asked := [run.id async for run in client.list_workflows(f"TaskQueue = '{name}'")]):
            assert running.process.returncode is None
        running.signal(number)
        assert await running.wait(5) == 128 + number
    (question,) = asked
    with suppress(RPCError):  # the server may have deleted it by now
        assert (await client.get_workflow_handle(question).describe()).status == WorkflowExecutionStatus.TERMINATED
    assert json.loads("\n".join(running.out)) == {"error": "interrupted; nothing was changed"}
    assert await TemporalGateway(client).describe(f"{deploy.project}-clean") is None


async def test_a_question_that_nobody_answers_is_taken_back(client: Client, name: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("schedules.server.workers.ANSWER_SECONDS", 1)
    worker = Worker(client, task_queue=name, workflows=[Silent], workflow_runner=UnsandboxedWorkflowRunner())
    async with worker:
        assert await Workers(client).offer(name) is None
    while [run async for run in client.list_workflows(f"TaskQueue = '{name}' AND ExecutionStatus = 'Running'")]:
        pass


@pytest.mark.skipif("SOAK_RUNS" not in os.environ, reason="the server deletes an ended workflow after 20 to 90 seconds")
async def test_asking_leaves_nothing_behind(server: DevServer, name: str, tmp_path: Path, client: Client) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name) as running:
        await running.until_ready()
        offer = await Workers(client).offer(name)
    assert offer is not None
    assert offer == WorkerOffer([], ["JobWorkflow"], worker=offer.worker, commands=False)
    async with asyncio.timeout(200):
        while [run.id async for run in client.list_workflows(f"TaskQueue = '{name}'")]:
            pass


async def test_a_server_with_no_such_queue_has_no_poller_and_its_namespace_a_limit(client: Client, name: str) -> None:
    """Two million bytes is the dev server's limit of one blob."""
    workers = Workers(client)
    assert not await workers.polls(name)
    assert await workers.largest_payload() == 2 * 1024 * 1024
