"""What a worker's pages say in each state of it."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil
import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.operatorservice.v1 import DeleteNamespaceRequest
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from activities.contract import JobRequest
from tests.processes import RunningWorker, starting_worker, worker
from tests.runs import request, start
from tests.servers import DevServer, dev_server, free_port

PAGES = ("/livez", "/startupz", "/readyz")
HANDLERS = """
import time
from pathlib import Path
from activities import JobContext, handler

@handler
def deaf() -> None:
    while not Path("go").exists():
        time.sleep(0.05)

@handler
async def holds_the_loop() -> None:
    Path("held").touch()
    deaf()
"""


@dataclass
class Scene:
    """Where a state is brought about."""

    server: DevServer
    client: Client
    name: str
    folder: Path

    def worker(self, **settings: str) -> AbstractAsyncContextManager[RunningWorker]:
        (self.folder / "handlers_of_test.py").write_text(HANDLERS)
        given = {"task_queue": self.name, "modules": "handlers_of_test", **settings}
        return worker(self.server.address, cwd=self.folder, **given)

    def job(self, handler: str = "deaf", timeout: float = 60.0) -> JobRequest:
        return request("python", {"handler": handler}, job=self.name, timeout=timeout)

    async def run(self, what: JobRequest, number: int = 1) -> None:
        await start(self.client, what, self.name, f"2027-03-01T13:00:{number:02}Z")


@asynccontextmanager
async def starting(scene: Scene) -> AsyncIterator[RunningWorker]:
    async with starting_worker(f"127.0.0.1:{free_port()}", cwd=scene.folder) as running:
        await running.until_log("server_away")
        yield running


@asynccontextmanager
async def polling(scene: Scene) -> AsyncIterator[RunningWorker]:
    async with scene.worker() as running:
        yield running


@asynccontextmanager
async def server_gone(scene: Scene) -> AsyncIterator[RunningWorker]:
    async with scene.worker() as running:
        scene.server.stop()
        yield running


@asynccontextmanager
async def server_hung(scene: Scene) -> AsyncIterator[RunningWorker]:
    async with scene.worker() as running:
        with scene.server.hung():
            yield running


@asynccontextmanager
async def namespace_gone(scene: Scene) -> AsyncIterator[RunningWorker]:
    namespace = f"{scene.name}-ns"
    await create_namespace(scene.client, namespace)
    async with scene.worker(TEMPORAL_NAMESPACE=namespace) as running:
        await scene.client.operator_service.delete_namespace(DeleteNamespaceRequest(namespace=namespace))
        yield running


@asynccontextmanager
async def polls_refused(scene: Scene) -> AsyncIterator[RunningWorker]:
    """A server that takes shorter names than others."""
    with dev_server(config=("limit.maxIDLength=30",)) as strict:
        async with starting_worker(strict.address, cwd=scene.folder, task_queue="q" * 31) as running:
            yield running


@asynccontextmanager
async def draining(scene: Scene) -> AsyncIterator[RunningWorker]:
    async with scene.worker() as running:
        await scene.run(scene.job())
        await running.until_log("step_started")
        running.signal(signal.SIGTERM)
        await running.until_log("worker_draining")
        yield running


@asynccontextmanager
async def handler_stuck(scene: Scene) -> AsyncIterator[RunningWorker]:
    """Its only step at a time ended by its timeout, and the function goes on."""
    async with scene.worker(max_concurrent_steps="1") as running:
        await scene.run(scene.job(timeout=0.5))
        yield running


@asynccontextmanager
async def backlog_growing(scene: Scene) -> AsyncIterator[RunningWorker]:
    """The only step at a time goes on, and a new run comes twice a second."""
    async with scene.worker(max_concurrent_steps="1", backlog_interval="2s") as running:

        async def more_and_more() -> None:
            for number in range(60):
                await scene.run(scene.job(), number)
                await asyncio.sleep(0.5)

        coming = asyncio.create_task(more_and_more())
        try:
            yield running
        finally:
            coming.cancel()


async def create_namespace(client: Client, namespace: str) -> None:
    """Waits until the server's parts know it."""
    retention = Duration(seconds=24 * 60 * 60)
    request = RegisterNamespaceRequest(namespace=namespace, workflow_execution_retention_period=retention)
    await client.workflow_service.register_namespace(request)
    describe = DescribeTaskQueueRequest(namespace=namespace, task_queue=TaskQueue(name="any"))
    async with asyncio.timeout(60):
        while True:
            with suppress(RPCError):
                await client.workflow_service.describe_task_queue(describe)
                return
            await asyncio.sleep(0.1)


OK, AWAY, SILENT = (
    (200, "ok\n"),
    (503, "server unreachable: UNAVAILABLE\n"),
    (503, "server unreachable: no answer within 2 s\n"),
)
STUCK = (503, "1 handlers still run although their attempts have ended; restart this worker\n")
STATES = {
    starting: (OK, (503, "starting\n"), (503, "starting\n")),
    polling: (OK, OK, OK),
    server_gone: (OK, OK, AWAY),
    server_hung: (OK, OK, SILENT),
    namespace_gone: (OK, OK, (503, r"namespace \S+-ns is refused: NOT_FOUND\n")),
    polls_refused: (OK, OK, (503, "polls are refused: INVALID_ARGUMENT\n")),
    draining: (OK, OK, (503, "draining\n")),
    handler_stuck: (STUCK, OK, STUCK),
    backlog_growing: (OK, OK, (200, r"ok\nbacklog growing: \d+ activity tasks wait, the oldest for \d+ s\n")),
}


@pytest.mark.parametrize(("state", "expected"), STATES.items(), ids=[state.__name__ for state in STATES])
async def test_each_page_tells_the_truth(
    state: Callable[[Scene], AbstractAsyncContextManager[RunningWorker]],
    expected: tuple[tuple[int, str], ...],
    own_server: DevServer,
    name: str,
    tmp_path: Path,
) -> None:
    scene = Scene(own_server, await Client.connect(own_server.address), name, tmp_path)
    async with state(scene) as running:
        deadline = time.monotonic() + 30
        while not as_expected(answers := [await running.get(page) for page in PAGES], expected):
            assert time.monotonic() < deadline, answers
            await asyncio.sleep(0.1)


async def test_a_worker_that_gets_no_work_says_so_once_and_does_not_count_as_one(
    own_server: DevServer, name: str, tmp_path: Path
) -> None:
    scene = Scene(own_server, await Client.connect(own_server.address), name, tmp_path)
    async with namespace_gone(scene) as running:
        assert "tickwright_worker_info{" in (await running.get("/metrics"))[1]
        await running.until_log("worker_unready", level="error")
        assert "tickwright_worker_info{" not in (await running.get("/metrics"))[1]
        for _ in range(3):
            assert (await running.get("/readyz"))[0] == 503
        assert len([line for line in running.logs if line.get("action") == "worker_unready"]) == 1


@pytest.mark.timeout(420)  # polls that are under way are held for a minute or two before they are refused
async def test_a_worker_whose_namespace_is_gone_ends_with_1_once_polls_are_refused_for_a_minute(
    own_server: DevServer, name: str, tmp_path: Path
) -> None:
    scene = Scene(own_server, await Client.connect(own_server.address), name, tmp_path)
    async with namespace_gone(scene) as running:
        assert await running.wait(timeout=360) == 1
        assert "the worker cannot go on" in running.err[-1]


def as_expected(answers: list[tuple[int, str]], expected: tuple[tuple[int, str], ...]) -> bool:
    pairs = zip(answers, expected, strict=True)
    return all(status == wanted and re.fullmatch(pattern, text) for (status, text), (wanted, pattern) in pairs)


async def test_a_held_loop_is_told_and_answers_again_when_it_is_free(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    scene = Scene(server, client, name, tmp_path)
    async with scene.worker() as running:
        url = await running.url()
        await scene.run(scene.job("holds_the_loop"))
        await running.until((tmp_path / "held").exists, "the function's beginning")
        assert await ask(f"{url}/livez", timeout=20) == (503, "something holds the event loop\n")
        (tmp_path / "go").touch()
        assert await running.until_answer("/livez", 200) == "ok\n"


async def test_idle_connections_keep_no_probe_out(server: DevServer, name: str, tmp_path: Path) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name) as running, AsyncExitStack() as idle:
        url = await running.url()
        host, port = url.removeprefix("http://").split(":")
        for _ in range(500):
            _, writer = await asyncio.open_connection(host, int(port))
            idle.callback(writer.close)
        for _ in range(20):
            assert await ask(f"{url}/readyz") == (200, "ok\n")
        assert (
            psutil.Process(running.pid).num_threads() < 500
        )  # It has some for itself, by the machine's cores, and none for each connection.


async def test_the_pages_show_no_version(server: DevServer, name: str, tmp_path: Path) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name) as running:
        url = await running.url()
        async with aiohttp.ClientSession() as session, session.get(f"{url}/livez") as answer:
            assert answer.headers["Server"] == "tickwright"


CROSS_SITE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
FOREIGN = {
    "127.0.0.1:9464": 200,
    "localhost": 200,
    "worker:9464": 200,
    "metrics.internal": 200,
    "evil.example": 403,
    "evil.example:9464": 403,
}


async def ask(url: str, timeout: float = 5, **headers: str) -> tuple[int, str]:
    limit = aiohttp.ClientTimeout(total=timeout)
    async with aiohttp.ClientSession(timeout=limit) as session, session.get(url, headers=headers) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize("path", PAGES)
async def test_probes_need_no_token_and_metrics_do(path: str, server: DevServer, name: str, tmp_path: Path) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, http_token="sesame-4711") as running:
        url = await running.url()
        assert (await ask(url + path))[0] == 200
        refused = (401, "a token is needed\n")
        assert await ask(f"{url}/metrics") == refused
        assert await ask(f"{url}/metrics", Authorization="Bearer sesame-471") == refused
        assert await ask(f"{url}/metrics", Authorization="sesame-4711") == refused
        status, text = await ask(f"{url}/metrics", Authorization="Bearer sesame-4711")
        assert status == 200
        assert "# TYPE tickwright_attempts_total counter" in text
        assert [line for line in running.err + running.out if "sesame" in line] == []


async def test_without_a_token_metrics_are_given_to_no_page_of_the_internet(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    """Whose name may stand for a loopback address by now: the browser says it as Host. Probes ask by any name."""
    async with worker(server.address, cwd=tmp_path, task_queue=name, http_hosts="worker, Metrics.internal.") as running:
        url = await running.url()
        for host, expected in FOREIGN.items():
            assert (await ask(f"{url}/metrics", Host=host))[0] == expected, host
        assert (await ask(f"{url}/metrics", 5, **CROSS_SITE))[0] == 403
        assert (await ask(f"{url}/livez", Host="evil.example"))[0] == 200


async def test_a_token_file_is_read_anew_and_without_it_nobody_may(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    async with worker(server.address, cwd=tmp_path, task_queue=name, http_token_file=str(file)) as running:
        url = f"{await running.url()}/metrics"
        assert (await ask(url, Authorization="Bearer first"))[0] == 200
        file.write_text("second\n")
        assert (await ask(url, Authorization="Bearer first"))[0] == 401
        assert (await ask(url, Authorization="Bearer second"))[0] == 200
        file.unlink()
        assert (await ask(url, Authorization="Bearer second"))[0] == 401
        assert (await ask(url, Authorization="Bearer "))[0] == 401
