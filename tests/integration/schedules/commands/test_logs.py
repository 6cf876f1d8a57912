"""`logs` as a command, on a real server: what steps put out, with attempts, while they run and afterwards."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from tests.integration.scenes import Scene, shell
from tests.processes import run_command, started, worker
from tests.servers import DevServer, free_port

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODULE = """
import logging
from activities import JobContext, handler

@handler("talk")
def talk(context: JobContext) -> dict[str, int]:
    context.logger.info("read rows", rows=3, token="hunter22-hunter22")
    logging.getLogger("mine").warning("of the standard library")
    if context.attempt == 1:
        raise ValueError("not yet")
    return {"rows": 3}
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def logged(server: DevServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("worker")
    (folder / "talking.py").write_text(MODULE)
    name = f"logs{free_port()}"
    async with (
        worker(
            server.address,
            cwd=folder,
            task_queue=name,
            allow_commands="true",
            modules="talking",
            TICKWRIGHT_SECRET_TOKEN="hunter22-hunter22",
        ),
        Scene(await Client.connect(server.address), name) as made,
    ):
        yield made


async def run_once(scene: Scene, short: str, **fields: Any) -> str:
    """The job runs once; its name."""
    await scene.add(short, schedule="@yearly", **fields)
    await scene.client.get_schedule_handle(scene.id(short)).trigger()
    return scene.id(short)


async def logs(server: DevServer, *words: str) -> str:
    done = await run_command("schedules", "logs", *words, env=server.environ)
    assert done.code == 0, done.stderr
    return done.stdout


async def test_stdout_and_stderr_of_a_success_and_of_the_attempt_that_failed(
    logged: Scene, server: DevServer, tmp_path: Path
) -> None:
    script = f"""echo "out of $TICKWRIGHT_ATTEMPT \x1b[31m"; echo "could not connect" >&2; test -e {tmp_path}/x || ! touch {tmp_path}/x"""
    twice = {"max_attempts": 2, "backoff": "fixed", "initial": "1s"}
    job = await run_once(logged, "twice", run=shell(script), retry=twice)
    run = await logged.ended("twice")
    text = await logs(server, job)
    document = json.loads(await logs(server, job, run.id, "--output", "json"))
    told = await run_command("schedules", "explain", job, run.id, env=server.environ)
    history = await logged.client.get_workflow_handle(run.id).fetch_history()
    first, second = text.index("attempt 1 · failed · stdout"), text.index("attempt 2 · succeeded · stdout")
    assert text.index("out of 1 \n") > first
    assert "\x1b" not in text + told.stdout
    assert text.index("out of 2") > second > first
    assert text.count("could not connect") == 3  # and once in the error
    [step] = document["steps"]
    assert [printed["attempt"] for printed in step["printed"]] == [1, 2]
    assert step["printed"][1]["streams"] == {"stdout": "out of 2 \x1b[31m\n", "stderr": "could not connect\n"}
    assert "stderr: could not connect" in told.stdout
    assert f"tickwright logs {job} {run.id[-20:]}" in told.stdout
    assert len(history.events) == 11
    tasks = [event for event in history.events if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED]
    assert len(tasks) == 2


async def test_of_a_long_output_the_beginning_the_end_and_its_length(logged: Scene, server: DevServer) -> None:
    script = f"echo begin; yes {'y' * 79} | head -n 40000; echo end"
    job = await run_once(logged, "long", run=shell(script))
    await logged.ended("long")
    text = await logs(server, job, "--step", "run")
    assert "\nbegin\n" in text
    assert text.endswith("end\n")
    assert "[3.2 MB in all, the first 1 KiB and the last 8 KiB kept]" in text
    assert len(text) < 11_000


async def test_a_function_and_a_request(logged: Scene, server: DevServer) -> None:
    steps = [
        {
            "name": "talk",
            "python": {"handler": "talk"},
            "retry": {"max_attempts": 2, "backoff": "fixed", "initial": "1s"},
        },
        {"name": "ask", "http": {"url": "http://127.0.0.1:9/x"}, "retry": {"max_attempts": 1}},
    ]
    job = await run_once(logged, "talk", run=None, steps=steps)
    await logged.ended("talk")
    text = await logs(server, job)
    only = await logs(server, job, "--step", "ask")
    wrong = await run_command("schedules", "logs", job, "--step", "aks", env=server.environ)
    assert text.count("read rows") == 2
    assert text.count("of the standard library") == 2
    assert "token=***" in text
    assert "hunter22" not in text
    assert "attempt 1 · failed · traceback" in text
    assert "attempt 2 · succeeded · log" in text
    assert '{"rows": 3}' in text
    assert "POST http://127.0.0.1:9/x" in only
    assert "talk" not in only.partition("\n")[2].replace(job, "")
    assert wrong.code == 2
    assert "--step aks: known steps that ran: talk, ask" in wrong.stderr


async def test_it_is_followed_while_it_runs(logged: Scene, server: DevServer, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f"echo the first line; while ! test -e {go}; do sleep 0.1; done; echo the last line"
    job = await run_once(logged, "live", run=shell(script), heartbeat_timeout="5s")
    await logged.run("live")
    async with started("schedules", "logs", job, "--follow", env=server.environ, cwd=tmp_path) as following:
        await following.until(lambda: "the first line" in following.out, "the first line, live")
        assert "the last line" not in following.out
        go.touch()
        assert await following.wait() == 0
    await following.until(lambda: "the last line" in following.out, "the last line")
    assert following.out.count("the first line") == 1


async def test_there_is_no_run(logged: Scene, server: DevServer) -> None:
    await logged.add("never", schedule="@yearly")
    for words in ((), ("2026-01-01T00:00",)):
        done = await run_command("schedules", "logs", logged.id("never"), *words, env=server.environ)
        assert done.code == 2
        assert "explain" in done.stderr
