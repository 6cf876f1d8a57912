"""What a real worker makes of the runs that a real server gives it."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import CancelledError

from activities.contract import RetryRequest
from tests.deploy import Deploy
from tests.processes import RunningWorker, marked, worker
from tests.runs import current_details, failure, request, shell, start
from tests.servers import DevServer

SECRET = "open-sesame-0815-x"


async def test_each_occurrence_of_a_job_every_two_seconds_runs_exactly_once(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    deploy = Deploy(tmp_path, server.environ, name)
    append = 'echo "$TICKWRIGHT_SCHEDULED_AT" >> effects'
    run = {"command": {"argv": [append], "shell": True}}
    deploy.job("tick", schedule={"every": "2s"}, run=run, task_queue=name, overlap="allow_all")
    job = next(iter(deploy.jobs))
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        await deploy.sync()
        done = await running.until(lambda: finished(running, 4), "four runs")
        deploy.jobs.clear()
        await deploy.sync()
    effects = (tmp_path / "effects").read_text().split()
    assert set(done) <= set(effects)
    ids = await ids_of_runs(client, job, {f"{job}-{time}" for time in effects})
    assert max(Counter(effects).values()) == max(Counter(ids).values()) == 1
    times = sorted(datetime.fromisoformat(time) for time in effects)
    assert {later - earlier for earlier, later in pairwise(times)} == {timedelta(seconds=2)}
    assert {time.second % 2 for time in times} == {0}


async def ids_of_runs(client: Client, job: str, expected: set[str]) -> list[str]:
    """Temporal's own list, which lags behind, once the expected ones are in it."""
    async with asyncio.timeout(60):
        while True:
            ids = [run.id async for run in client.list_workflows(f"WorkflowId STARTS_WITH '{job}-'")]
            if expected <= set(ids):
                return ids
            await asyncio.sleep(0.1)


def finished(running: RunningWorker, count: int) -> list[str]:
    """Scheduled times of the finished steps, once there are that many."""
    times = [line["scheduled_time"] for line in running.logs if line.get("action") == "step_finished"]
    return times if len(times) >= count else []


async def test_a_run_that_fails_says_so_in_type_result_and_details(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        run = await start(client, request(params=shell("echo no such host >&2; exit 3"), job=name), name)
        ended = await failure(run)
        details = await current_details(run)
    assert ended.type == ended.result["outcome"] == "failed"
    assert ended.message == ended.result["reason"]
    assert "exit code 3: no such host" in ended.message
    assert details == f"failed: {ended.message}"
    assert (await run.describe()).status == WorkflowExecutionStatus.FAILED


async def test_a_run_that_times_out_is_told_apart_from_one_that_fails(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        run = await start(client, request(params=shell("sleep 600"), job=name, timeout=1.0), name)
        ended = await failure(run)
        details = await current_details(run)
        assert [process.pid for process in marked(running.mark)] == [running.pid]
    assert ended.type == ended.result["outcome"] == "timed_out"
    assert ended.message == "step run: timed out after 1 s"
    assert details == "timed_out: step run: timed out after 1 s"


async def test_a_run_that_succeeds_says_attempts_lateness_and_duration(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    fails_once = shell("echo x >> tries; test $(wc -l < tries) -eq 2 && echo posted")
    retry = RetryRequest(max_attempts=3, initial=1.0)
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        run = await start(client, request(params=fails_once, job=name, retry=retry), name, "2020-03-01T13:00:00Z")
        result = await run.result()
        details = await current_details(run)
    began = (await run.describe()).start_time
    lateness = (began - datetime.fromisoformat("2020-03-01T13:00:00Z")).total_seconds()
    assert (result.outcome, result.attempts, details) == ("succeeded", 2, "succeeded")
    assert result.scheduled_at == "2020-03-01T13:00:00Z"
    assert lateness <= result.lateness < lateness + 60
    assert 1.0 <= result.duration < 60
    assert result.steps[0].output["stdout"] == "posted\n"


async def test_cancelling_a_run_ends_its_commands_process_group_and_the_run_as_cancelled(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    children = shell("sleep 601 & sleep 602 & wait")
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        run = await start(client, request(params=children, job=name, heartbeat_timeout=600.0), name)
        await running.until(lambda: len(sleeping(running)) == 2, "both children of the command")
        await run.cancel()
        with pytest.raises(WorkflowFailureError) as ended:
            async with asyncio.timeout(60):
                await run.result()
        assert isinstance(ended.value.cause, CancelledError)
        assert [process.pid for process in marked(running.mark)] == [running.pid]
        assert await current_details(run) == "cancelled: cancelled on request"
        await running.until_log("step_cancelled", job=name)
    assert (await run.describe()).status == WorkflowExecutionStatus.CANCELED


async def test_the_next_occurrence_cancels_the_command_of_the_one_before_where_overlap_says_so(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    deploy = Deploy(tmp_path, server.environ, name)
    run = {"command": {"argv": ["sleep 600 & wait"], "shell": True}}
    deploy.job(
        "tick", schedule={"every": "3s"}, run=run, task_queue=name, overlap="cancel_other", heartbeat_timeout="5s"
    )
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        await deploy.sync()
        cancelled = await running.until_log("step_cancelled")
        deploy.jobs.clear()
        await deploy.sync()
        earlier = client.get_workflow_handle(f"{name}-tick-{cancelled['scheduled_time']}")
        with pytest.raises(WorkflowFailureError) as ended:
            await earlier.result()
        assert isinstance(ended.value.cause, CancelledError)
        assert len(sleeping(running)) <= 1


def sleeping(running: RunningWorker) -> list[int]:
    """The processes named `sleep` that come from its steps."""
    return [process.pid for process in marked(running.mark) if process.name() == "sleep"]


@pytest.fixture
async def echo() -> AsyncIterator[tuple[str, list[str]]]:
    """A service that answers with what it was told in Authorization, and the list of that."""
    told: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        told.append(request.headers["Authorization"])
        status = 400 if request.path == "/refuse" else 200
        return web.json_response({"you said": told[-1]}, status=status, reason=told[-1])

    application = web.Application()
    application.router.add_post("/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", told
    await runner.cleanup()


def forms(secret: str) -> list[bytes]:
    """The secret as it is, and what each of the three places in base64 leaves of it for certain."""
    raw = secret.encode()
    encoded = [b64encode(b"x" * shift + raw + b"x" * (-(shift + len(raw)) % 3)) for shift in range(3)]
    return [raw, *(text[4:-4] for text in encoded)]


async def test_a_secret_in_use_is_in_no_history_result_or_log(
    server: DevServer, client: Client, name: str, tmp_path: Path, echo: tuple[str, list[str]]
) -> None:
    url, told = echo
    headers = {"Authorization": "Basic ${secret:TOKEN}"}
    tell = 'echo "$T"; printf %s "$T" | base64; printf "u:%s" "$T" | base64; printf "us:%s" "$T" | base64 >&2; exit '
    steps = {
        "accepted": request("http", {"url": f"{url}/take", "headers": headers}, job=name),
        "refused": request("http", {"url": f"{url}/refuse", "headers": headers}, job=name),
        "done": request(params=shell(tell + "0", env={"T": "${secret:TOKEN}"}), job=name),
        "broken": request(params=shell(tell + "9", env={"T": "${secret:TOKEN}"}), job=name),
    }
    stored = b""
    env = {"TICKWRIGHT_SECRET_TOKEN": SECRET}
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true", **env) as running:
        for day, what in enumerate(steps.values(), 1):
            run = await start(client, what, name, f"2027-03-0{day}T13:00:00Z")
            [_ async for _ in run.fetch_history_events(wait_new_event=True)]
            stored += b"".join([event.SerializeToString() async for event in run.fetch_history_events()])
            stored += (await run.describe()).raw_description.SerializeToString()
        logged = "\n".join([*running.out, *running.err]).encode()
    assert told == [f"Basic {SECRET}"] * 2
    assert stored.count(b"${secret:TOKEN}") >= 4
    assert stored.count(b"***") >= 8
    for form in forms(SECRET):
        assert form not in stored
        assert form not in logged


async def test_the_build_of_the_worker_is_on_the_tasks_that_it_completes(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true", build_id="2027.3-abc"):
        run = await start(client, request(job=name), name)
        await run.result()
    completed = [
        event.workflow_task_completed_event_attributes
        async for event in run.fetch_history_events()
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    ]
    assert {(task.worker_deployment_name, task.worker_version.build_id) for task in completed} == {
        ("tickwright", "2027.3-abc")
    }


async def test_a_run_of_one_step_makes_11_events_and_2_workflow_tasks(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        run = await start(client, request(job=name), name)
        await run.result()
    kinds = [event.event_type async for event in run.fetch_history_events()]
    assert len(kinds) == 11
    assert kinds.count(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) == 2


async def test_an_own_workflow_with_an_own_activity_is_the_run(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    (tmp_path / "settle.py").write_text(
        "from datetime import timedelta\n"
        "from pydantic import BaseModel\n"
        "from temporalio import activity, workflow\n"
        "from activities import JobContext, handler\n"
        "class Account(BaseModel):\n"
        "    name: str\n"
        "@handler('close')\n"
        "def close(params: Account, context: JobContext) -> None: ...\n"
        "@activity.defn\n"
        "def book(account: str) -> str:\n"
        "    return f'booked {account}'\n"
        "@workflow.defn\n"
        "class Settle:\n"
        "    @workflow.run\n"
        "    async def run(self, account: str, day: str) -> str:\n"
        "        limit = timedelta(seconds=10)\n"
        "        return await workflow.execute_activity(book, account, start_to_close_timeout=limit) + ' ' + day\n"
    )
    params = {"type": "Settle", "args": ["a-1", "{scheduled_at:%F}"]}
    async with worker(server.address, cwd=tmp_path, task_queue=name, modules="settle"):
        run = await start(client, request("workflow", params, job=name), name)
        result = await run.result()
    assert result.steps[0].output == "booked a-1 2027-03-01"


async def test_a_workflow_type_that_no_worker_knows_fails_the_run_at_once(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    what = request("workflow", {"type": "Chlid"}, job=name, timeout=600.0, retry=RetryRequest(max_attempts=3))
    async with worker(server.address, cwd=tmp_path, task_queue=name, modules="tests.child_workflow"):
        ended = await failure(await start(client, what, name))
    assert ended.type == "failed"
    assert ended.message.startswith("step run: no workflow type `Chlid` on this worker; is its module in")
    assert ended.result["duration"] < 60


async def test_the_deadline_bounds_an_own_workflow_and_all_its_attempts(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """Attempts of 2 s each, 1 s apart: without the deadline there would be five."""
    params = {"type": "Child", "args": ["wait"]}
    retry = RetryRequest(max_attempts=5, backoff="fixed", initial=1.0)
    async with worker(server.address, cwd=tmp_path, task_queue=name, modules="tests.child_workflow"):
        what = request("workflow", params, job=name, timeout=2.0, retry=retry, deadline=4.0)
        ended = await failure(await start(client, what, name))
    assert (ended.type, ended.result["outcome"]) == ("timed_out", "timed_out")
    assert 3.5 <= ended.result["duration"] <= 6


async def test_commands_are_refused_for_good_where_the_worker_does_not_allow_them(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name) as running:
        run = await start(client, request(job=name, retry=RetryRequest(max_attempts=5)), name)
        ended = await failure(run)
        assert "set TICKWRIGHT_ALLOW_COMMANDS=true" in ended.message
        assert ended.result["attempts"] == 1
        refused = await running.until_log("step_failed", permanent=True)
    assert json.dumps(refused).count(name) >= 1


async def test_an_own_workflow_that_uses_up_its_attempts_says_how_many(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    retry = RetryRequest(max_attempts=2, backoff="fixed", initial=1.0)
    what = request("workflow", {"type": "Child", "args": ["fail"]}, job=name, retry=retry)
    async with worker(server.address, cwd=tmp_path, task_queue=name, modules="tests.child_workflow"):
        ended = await failure(await start(client, what, name))
    assert (ended.message, ended.result["attempts"]) == ("step run: the books do not balance", 2)
