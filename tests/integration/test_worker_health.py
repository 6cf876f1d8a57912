"""What a worker's pages say in each state of it."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from temporalio.client import Client

from activities.contract import JobRequest
from tests.processes import RunningWorker, starting_worker, worker
from tests.runs import request, start
from tests.servers import DevServer, free_port

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


OK, AWAY = (200, "ok\n"), (503, r"server unreachable: \w+\n")
STUCK = (503, "1 handlers go on although their attempts have ended; restart this worker\n")
STATES = {
    starting: (OK, (503, "starting\n"), (503, "starting\n")),
    polling: (OK, OK, OK),
    server_gone: (OK, OK, AWAY),
    server_hung: (OK, OK, AWAY),
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
