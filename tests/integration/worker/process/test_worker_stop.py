"""How a worker process ends while steps run: drained, cut short, at once, or killed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle

from activities.contract import RetryRequest
from tests.processes import RunningWorker, marked, until_none_left, worker
from tests.runs import failure, request, shell, start
from tests.servers import DevServer

UNTIL_TOLD = shell("echo begun >> begun; until [ -e go ]; do sleep 0.05; done; echo done >> done")
"""Goes on until there is a file `go` in the worker's folder; notes its beginning and its end."""
STUBBORN = shell("trap '' TERM; echo begun >> begun; while :; do sleep 0.05; done")


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


async def begun(running: RunningWorker, folder: Path) -> None:
    """Waits until the command runs."""
    await running.until(lambda: lines(folder / "begun"), "the command's first line")


def commands(running: RunningWorker) -> list[str]:
    """What runs of the worker's steps."""
    names = []
    for process in marked(running.mark):
        with suppress(psutil.NoSuchProcess):
            names += [process.name()] if process.pid != running.pid else []
    return names


async def events(handle: WorkflowHandle[object, object]) -> list[EventType.ValueType]:
    return [event.event_type async for event in handle.fetch_history_events()]


async def test_sigterm_lets_a_running_step_finish_and_takes_no_new_work(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        run = await start(client, request(params=UNTIL_TOLD, job=name), name)
        await begun(running, tmp_path)
        running.signal(signal.SIGTERM)
        await running.until_log("worker_draining")
        assert await running.get("/readyz") == (503, "draining\n")
        assert await running.get("/livez") == (200, "ok\n")
        late = await start(client, request(job=name), name, "2027-03-02T13:00:00Z")
        (tmp_path / "go").touch()
        assert await running.wait() == 0
        await running.until_log("step_finished", outcome="succeeded")
    assert EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED not in await events(late)
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        result = await run.result()
        assert (result.outcome, result.attempts) == ("succeeded", 1)
        assert (await late.result()).outcome == "succeeded"
    assert lines(tmp_path / "done") == ["done"]


async def test_a_step_that_outlasts_the_drain_is_cut_short_and_run_again_although_it_has_one_attempt(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    settings = {"task_queue": name, "allow_commands": "true", "drain_timeout": "1s"}
    async with worker(server.address, cwd=tmp_path, **settings) as running:
        run = await start(client, request(params=UNTIL_TOLD, job=name), name)
        await begun(running, tmp_path)
        running.signal(signal.SIGTERM)
        assert await running.wait() == 0
        await running.until_log("step_failed", outcome="worker_shutdown")
        await until_none_left(running.mark)
    assert lines(tmp_path / "done") == []
    (tmp_path / "go").touch()
    async with worker(server.address, cwd=tmp_path, **settings):
        assert (await run.result()).outcome == "succeeded"
    assert (lines(tmp_path / "begun"), lines(tmp_path / "done")) == (["begun", "begun"], ["done"])


EXPORT = """
import threading
from pathlib import Path
from activities import JobContext, handler

@handler
def export(context: JobContext) -> str:
    told = f"{context.attempt} {context.last_heartbeat}"
    with Path("attempts").open("a") as file:
        file.write(told + "\\n")
    context.heartbeat(f"page {context.attempt}")
    if told == "1 None":
        context.cancelled.wait()
    if context.attempt < 2:
        raise RuntimeError("not yet")
    return told
"""


async def test_a_drain_costs_a_step_no_attempt_and_no_progress(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """Attempt 1 is drained and made again, and fails; of two attempts there is still another."""
    (tmp_path / "exports.py").write_text(EXPORT)
    settings = {"task_queue": name, "modules": "exports", "drain_timeout": "0s"}
    what = request("python", {"handler": "export"}, job=name, retry=RetryRequest(max_attempts=2, initial=1.0))
    async with worker(server.address, cwd=tmp_path, **settings) as running:
        run = await start(client, what, name)
        await running.until(lambda: lines(tmp_path / "attempts"), "the first attempt")
        running.signal(signal.SIGTERM)
        assert await running.wait() == 0
    async with worker(server.address, cwd=tmp_path, **settings):
        result = await run.result()
    assert lines(tmp_path / "attempts") == ["1 None", "1 page 1", "2 page 1"]
    assert (result.outcome, result.attempts, result.steps[0].output) == ("succeeded", 2, "2 page 1")


STAYING = """
import asyncio, hashlib, re, time
from pathlib import Path
from activities import handler

def begun():
    Path("begun").write_text("x\\n")

@handler
async def swallows() -> None:
    begun()
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

@handler
async def in_a_thread() -> None:
    begun()
    await asyncio.to_thread(time.sleep, 90)

@handler
async def leaves_a_task() -> None:
    asyncio.create_task(swallows())
    await asyncio.Event().wait()

@handler
def in_its_own_thread() -> None:
    begun()
    time.sleep(90)

@handler
async def holds() -> None:
    begun()
    time.sleep(90)

@handler
async def holds_in_one_call() -> None:
    begun()
    hashlib.pbkdf2_hmac("sha256", b"p", b"s", 400_000_000)

@handler
async def holds_at_the_end() -> None:
    begun()
    try:
        await asyncio.sleep(3600)
    finally:
        time.sleep(90)

@handler
async def holds_and_takes_signals() -> None:
    asyncio.get_running_loop().add_signal_handler(10, print)
    await holds()
"""
ENDS_OF_STAYING = {
    "swallows": 0,
    "in_a_thread": 0,
    "leaves_a_task": 0,
    "in_its_own_thread": 0,
    "holds": 1,
    "holds_in_one_call": 1,
    "holds_at_the_end": 1,
    "holds_and_takes_signals": 1,
}
"""Exit codes: 0 where the drain comes to its end, 1 where a function holds the loop and the process ends without it."""


@pytest.mark.parametrize(("handler", "code"), ENDS_OF_STAYING.items(), ids=ENDS_OF_STAYING)
async def test_whatever_functions_leave_or_hold_the_process_ends(
    handler: str, code: int, server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with staying(handler, server, client, name, tmp_path, "1s") as running:
        running.signal(signal.SIGTERM)
        assert await running.wait() == code


@pytest.mark.parametrize("handler", ["swallows", "holds", "holds_in_one_call", "holds_and_takes_signals"])
async def test_the_second_signal_stops_at_once_whatever_holds_the_loop(
    handler: str, server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with staying(handler, server, client, name, tmp_path, "10m") as running:
        running.signal(signal.SIGTERM)
        await asyncio.sleep(0.2)  # Two of the same that are not heard yet would be one.
        running.signal(signal.SIGINT)
        assert await running.wait() == 130


@asynccontextmanager
async def staying(
    handler: str, server: DevServer, client: Client, name: str, folder: Path, drain: str
) -> AsyncIterator[RunningWorker]:
    """A worker in which that function runs."""
    (folder / "staying.py").write_text(STAYING)
    async with worker(server.address, cwd=folder, task_queue=name, modules="staying", drain_timeout=drain) as running:
        await start(client, request("python", {"handler": handler}, job=name), name)
        await begun(running, folder)
        yield running


async def test_a_fork_of_a_function_ends_by_a_signal_that_the_worker_does_not_hear(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    (tmp_path / "forking.py").write_text(
        "import multiprocessing, time\n"
        "from activities import handler\n"
        "def begin(begun) -> None:\n"
        "    begun.set()\n"
        "    time.sleep(90)\n"
        "@handler\n"
        "def fork() -> int:\n"
        "    context = multiprocessing.get_context('fork')\n"
        "    begun = context.Event()\n"
        "    child = context.Process(target=begin, args=(begun,))\n"
        "    child.start()\n"
        "    begun.wait()\n"
        "    child.terminate()\n"
        "    child.join()\n"
        "    return child.exitcode\n"
    )
    async with worker(server.address, cwd=tmp_path, task_queue=name, modules="forking") as running:
        run = await start(client, request("python", {"handler": "fork"}, job=name), name)
        assert (await run.result()).steps[0].output == -signal.SIGTERM
        assert await running.get("/readyz") == (200, "ok\n")


async def test_the_only_attempt_of_a_worker_that_is_killed_counts(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    settings = {"task_queue": name, "allow_commands": "true"}
    async with worker(server.address, cwd=tmp_path, **settings) as killed:
        run = await start(client, request(params=UNTIL_TOLD, job=name, heartbeat_timeout=2.0), name)
        await begun(killed, tmp_path)
        killed.signal(signal.SIGKILL)
        await killed.wait()
    async with worker(server.address, cwd=tmp_path, **settings):
        ended = await failure(run)
    assert (ended.type, ended.message, ended.result["attempts"]) == ("timed_out", "step run: heartbeat timeout", 1)


@pytest.mark.parametrize(
    ("first", "second", "code"), [(signal.SIGTERM, signal.SIGTERM, 143), (signal.SIGINT, signal.SIGINT, 130)]
)
async def test_the_second_signal_stops_at_once_and_leaves_no_process(
    first: signal.Signals,
    second: signal.Signals,
    code: int,
    server: DevServer,
    client: Client,
    name: str,
    tmp_path: Path,
) -> None:
    settings = {"task_queue": name, "allow_commands": "true", "drain_timeout": "10m"}
    async with worker(server.address, cwd=tmp_path, **settings) as running:
        await start(client, request(params=UNTIL_TOLD, job=name), name)
        await begun(running, tmp_path)
        running.signal(first)
        await running.until_log("worker_draining")
        assert commands(running) != []
        running.signal(second)
        assert await running.wait() == code
        await until_none_left(running.mark)


async def test_a_command_that_ignores_sigterm_does_not_survive_its_killed_worker(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        await start(client, request(params=STUBBORN, job=name), name)
        await begun(running, tmp_path)
        running.signal(signal.SIGKILL)
        assert await running.wait() == -signal.SIGKILL
        await until_none_left(running.mark)


async def test_after_sigkill_another_worker_takes_over_and_the_occurrence_succeeds_once(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    settings = {"task_queue": name, "allow_commands": "true"}
    twice = RetryRequest(max_attempts=2, initial=1.0)
    async with worker(server.address, cwd=tmp_path, **settings) as killed:
        what = request(params=UNTIL_TOLD, job=name, heartbeat_timeout=5.0, retry=twice)
        run = await start(client, what, name)
        await begun(killed, tmp_path)
        killed.signal(signal.SIGKILL)
        assert await killed.wait() == -signal.SIGKILL
        await until_none_left(killed.mark)
    async with worker(server.address, cwd=tmp_path, **settings) as other:
        await other.until_log("step_started", attempt=2)
        (tmp_path / "go").touch()
        result = await run.result()
    assert (result.outcome, result.attempts) == ("succeeded", 2)
    assert (lines(tmp_path / "begun"), lines(tmp_path / "done")) == (["begun", "begun"], ["done"])


async def test_a_server_that_hangs_does_not_hold_a_drain(name: str, tmp_path: Path, own_server: DevServer) -> None:
    """Seen without the bound: some 40 s."""
    settings = {"task_queue": name, "allow_commands": "true", "drain_timeout": "0s"}
    client = await Client.connect(own_server.address)
    async with worker(own_server.address, cwd=tmp_path, **settings) as running:
        await start(client, request(params=UNTIL_TOLD, job=name), name)
        await begun(running, tmp_path)
        with own_server.hung():
            running.signal(signal.SIGTERM)
            assert await running.wait(timeout=30) == 1
        await running.until(lambda: "before the server had answered" in running.err[-1], "the reason")
        await until_none_left(running.mark)


async def test_a_server_that_is_gone_does_not_hold_a_drain_and_the_log_keeps_its_form(
    name: str, tmp_path: Path, own_server: DevServer
) -> None:
    """The SDK's core, which is no Python, warns of its vain attempts to report the step."""
    settings = {"task_queue": name, "allow_commands": "true", "drain_timeout": "0s"}
    client = await Client.connect(own_server.address)
    async with worker(own_server.address, cwd=tmp_path, **settings) as running:
        await start(client, request(params=UNTIL_TOLD, job=name), name)
        await begun(running, tmp_path)
        own_server.stop()
        running.signal(signal.SIGTERM)
        await running.wait(timeout=30)
        await until_none_left(running.mark)
        assert await running.until(lambda: of_core(running), "a line of the core")
        assert running.out == []
        assert [line for line in running.err if not line.startswith(("{", "stopped after"))] == []


def of_core(running: RunningWorker) -> list[str]:
    return [line["event"] for line in running.logs if line.get("logger", "").startswith("temporalio.core")]
