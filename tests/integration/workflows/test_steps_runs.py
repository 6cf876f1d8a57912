"""Jobs of several steps with real workers, commands, schedules and a real server."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import CancelledError
from temporalio.service import RPCError

from activities.contract import RetryRequest
from tests.deploy import Deploy
from tests.processes import marked, until_none_left, worker
from tests.runs import failure, start
from tests.servers import DevServer
from tests.steps_of import a_job, a_step


def shell(text: str, **more: Any) -> dict[str, Any]:
    """A step that is a line of shell."""
    return {"command": {"argv": [text], "shell": True}, **more}


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


async def until_reported(client: Client, job: str, details: Any) -> None:
    """Wait until the server holds `details` as the last heartbeat of the job's running step."""
    async with asyncio.timeout(60):
        while True:
            async for run in client.list_workflows(f"WorkflowId STARTS_WITH '{job}-' AND ExecutionStatus = 'Running'"):
                described = await client.get_workflow_handle(run.id).describe()
                for pending in described.raw_description.pending_activities:
                    kept = await client.data_converter.decode(pending.heartbeat_details.payloads)
                    if kept == [details]:
                        return
            await asyncio.sleep(0.1)


async def test_the_next_occurrence_cancels_a_running_command_which_is_undone_before_the_run_ends(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """The effect of the step before is taken back as well, last first; no process of the command is left."""
    note = 'echo "$TICKWRIGHT_SCHEDULED_AT {} $TICKWRIGHT_IDEMPOTENCY_KEY" >> log'
    deploy = Deploy(tmp_path, server.environ, name)
    deploy.job(
        "post",
        schedule={"every": "4s"},
        overlap="cancel_other",
        heartbeat_timeout="5s",
        task_queue=name,
        steps=[
            shell(note.format("reserved"), name="reserve", compensate=shell("sleep 5; " + note.format("released"))),
            shell(
                note.format("posting") + "; sleep 601 & sleep 602 & wait",
                name="post",
                compensate=shell(note.format("unposted")),
            ),
        ],
    )
    log = tmp_path / "log"
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        await deploy.sync()
        await running.until(lambda: any("unposted" in line for line in lines(log)), "a compensation")
        first = lines(log)[0].split()[0]
        run = client.get_workflow_handle(f"{name}-post-{first}")
        with suppress(RPCError):  # A second cancellation, while it takes back what it did.
            await run.cancel()
        await running.until(lambda: any("released" in line for line in lines(log)), "a compensated run")
        deploy.jobs.clear()
        await deploy.sync()
        with pytest.raises(WorkflowFailureError) as ended:
            await run.result()
        assert isinstance(ended.value.cause, CancelledError)
        assert (await run.describe()).status == WorkflowExecutionStatus.CANCELED
        # Of the run that took its place two may still sleep.
        assert len([process for process in marked(running.mark) if process.name() == "sleep"]) <= 2
        running.signal(signal.SIGKILL)
        await until_none_left(running.mark)
    of_first = [line.split()[1:] for line in lines(log) if line.startswith(first)]
    key = f"{name}/default/{name}-post/{first}"
    assert of_first == [
        ["reserved", f"{key}/reserve"],
        ["posting", f"{key}/post"],
        ["unposted", f"{key}/post%2Fundo"],
        ["released", f"{key}/reserve%2Fundo"],
    ]


async def test_a_run_goes_on_after_its_worker_was_killed_and_does_no_finished_step_again(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """The step in the middle reads what its first attempt had reported; what was done before is not done again."""
    (tmp_path / "long_jobs.py").write_text(
        "from pathlib import Path\n"
        "from activities import JobContext, handler\n"
        "@handler\n"
        "def copy(context: JobContext) -> dict[str, int]:\n"
        "    done = context.last_heartbeat or 0\n"
        "    with Path('log').open('a') as log:\n"
        "        print(f'copy from {done}', file=log)\n"
        "    for part in range(done + 1, 6):\n"
        "        context.heartbeat(part)\n"
        "        if part == 3 and context.attempt == 1:\n"
        "            context.cancelled.wait(600)\n"
        "    return {'parts': 5}\n"
    )
    deploy = Deploy(tmp_path, server.environ, name)
    deploy.job(
        "copy",
        schedule={"every": "1h"},
        heartbeat_timeout="5s",
        retry={"max_attempts": 3, "initial": "1s"},
        task_queue=name,
        steps=[
            shell("echo began >> log; echo '{{\"rows\": 3}}'", name="begin"),
            {"name": "copy", "python": {"handler": "copy"}},
            shell("echo ended {steps.copy.output.parts | sh} {steps.begin.output.rows | sh} >> log", name="end"),
        ],
    )
    assert [change["action"] for change in (await deploy.sync())["changes"]] == ["create"]
    assert (await deploy.sync())["changes"] == [], "what a step compiles to is what the server keeps"
    handle = client.get_schedule_handle(f"{name}-copy")
    settings = {"task_queue": name, "allow_commands": "true", "modules": "long_jobs"}
    async with worker(server.address, cwd=tmp_path, **settings) as first:
        await handle.trigger()
        await until_reported(client, f"{name}-copy", 3)
        first.signal(signal.SIGKILL)
        await first.wait()
    async with worker(server.address, cwd=tmp_path, **settings) as second:
        await second.until_log("step_finished", step="end")
    assert lines(tmp_path / "log") == ["began", "copy from 0", "copy from 3", "ended 5 3"]
    deploy.jobs.clear()
    await deploy.sync()


async def test_the_last_success_reaches_the_next_runs_over_failures_between(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """Of each window exactly one run that succeeds takes it: windows follow on each other although every second run fails."""
    (tmp_path / "windows.py").write_text(
        "import json\n"
        "from pathlib import Path\n"
        "from pydantic import BaseModel\n"
        "from activities import HandlerError, JobContext, handler\n"
        "class Window(BaseModel):\n"
        "    start: str\n"
        "    end: str\n"
        "@handler\n"
        "def take(window: Window, context: JobContext) -> dict[str, int]:\n"
        "    last = context.last_success\n"
        "    count = last.outputs['take']['count'] + 1 if last else 1\n"
        "    broken = int(context.scheduled_at.timestamp()) // 2 % 2 == 1\n"
        "    told = [window.start, window.end, count, last and last.scheduled_at.isoformat(), broken]\n"
        "    with Path('log').open('a') as log:\n"
        "        print(json.dumps(told), file=log)\n"
        "    if broken:\n"
        "        raise HandlerError('not this time', permanent=True)\n"
        "    return {'count': count}\n"
    )
    deploy = Deploy(tmp_path, server.environ, name)
    window = {"start": "{last_success:%s}", "end": "{interval_end:%s}"}
    deploy.job(
        "take",
        schedule={"every": "2s"},
        timezone="Asia/Tokyo",
        overlap="buffer_all",
        task_queue=name,
        steps=[{"name": "take", "python": {"handler": "take", "params": window}}, shell("true", name="more")],
    )
    log = tmp_path / "log"
    async with worker(
        server.address, cwd=tmp_path, task_queue=name, allow_commands="true", modules="windows"
    ) as running:
        await deploy.sync()
        await running.until(lambda: len(lines(log)) >= 6, "six runs")
        deploy.jobs.clear()
        await deploy.sync()
    told = [json.loads(line) for line in lines(log)]
    done = [each for each in told if not each[4]]
    first = told.index(done[0])
    assert all(last is None for _, _, _, last, _ in told[: first + 1])
    assert int(done[0][1]) - int(done[0][0]) == 2, "nothing had succeeded: the interval"
    for before, after in pairwise(done):
        assert (after[0], after[2]) == (before[1], before[2] + 1)
        assert after[3].endswith("+09:00")
        assert int(after[1]) - int(after[0]) == 4, "its own window, and that of the run between, which failed"
    assert len(done) >= 3


async def test_a_step_that_no_worker_takes_in_time_says_so(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    away = a_step("post", task_queue=f"{name}-away", start_timeout=1.0, retry=RetryRequest(max_attempts=3))
    async with worker(server.address, cwd=tmp_path, task_queue=name):
        ended = await failure(await start(client, a_job(name, away), name))
    assert (ended.type, ended.result["duration"] < 20) == ("timed_out", True)
    assert ended.message == f"step post: no worker took it within 1 s; is one running for the task queue `{name}-away`?"


async def test_ten_steps_cost_the_same_for_each_as_one(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """A hand-written workflow with n activities in a row makes 5 + 6 n events and n + 1 workflow tasks."""
    (tmp_path / "played.py").write_text(
        "from pydantic import BaseModel\nfrom activities import handler\n@handler\ndef play() -> int:\n    return 7\n"
    )
    async with worker(server.address, cwd=tmp_path, task_queue=name, modules="played"):
        run = await start(client, a_job(name, *(a_step(f"s{number}") for number in range(10))), name)
        await run.result()
    kinds = [event.event_type async for event in run.fetch_history_events()]
    assert len(kinds) == 65
    assert kinds.count(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) == 11
