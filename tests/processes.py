"""Commands of the product as real processes, of which nothing is left when their test ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import aiohttp
import psutil

from tests.forked import LIMIT, ForkedProcess, fork_module

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable, Mapping

ROOT = Path(__file__).resolve().parents[1]
MARK = "TEST_PROCESS_MARK"
OWN_PREFIXES = ("TICKWRIGHT_", "TEMPORAL_")
PATIENCE = 60.0


@dataclass(frozen=True)
class Finished:
    """How a command ended; the code is negative for a signal."""

    code: int
    stdout: str
    stderr: str


def environment(extra: Mapping[str, str], mark: str) -> dict[str, str]:
    """This process' variables without any that the product reads, then `extra`; the mark is inherited by what is started."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(OWN_PREFIXES)}
    return {**plain, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "COLUMNS": "200", **extra, MARK: mark}


async def run_command(
    module: str, *arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path = ROOT, timeout: float = 60.0
) -> Finished:
    """Runs `python -m <module> <arguments>` to its end; TEMPORAL_ADDRESS and the like go into `env`. Raises TimeoutError."""
    mark = uuid4().hex
    process = await fork_module(module, *map(str, arguments), environ=environment(env or {}, mark), cwd=cwd)
    try:
        async with asyncio.timeout(timeout):
            stdout, stderr = await process.communicate()
    finally:
        with suppress(ProcessLookupError):
            process.kill()  # A worker with commands does not let us see its mark unless we are root.
        kill_marked(mark)
        await process.wait()
    return Finished(process.returncode or 0, stdout.decode(), stderr.decode())


@dataclass
class Running:
    """A command that goes on; `out` and `err` are its lines so far."""

    process: Process | ForkedProcess
    mark: str
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    _logs: list[dict[str, Any]] = field(default_factory=list)
    _parsed: int = 0

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def logs(self) -> list[dict[str, Any]]:
        """The lines of JSON that it has logged; each is parsed once, for they are asked for often."""
        new = self.err[self._parsed :]
        self._parsed += len(new)
        self._logs += [json.loads(line) for line in new if line.startswith("{")]
        return self._logs

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def wait(self, timeout: float = PATIENCE) -> int:
        """Its exit code, negative for a signal. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            return await self.process.wait()

    async def until(self, holds: Callable[[], Any], what: str, timeout: float = PATIENCE) -> Any:
        """The first true answer of `holds`; fails, with the command's last words, when it ends before or takes too long."""
        deadline = time.monotonic() + timeout
        while not (answer := holds()):
            ended = self.process.returncode is not None
            if ended or time.monotonic() > deadline:
                await asyncio.sleep(0.1)  # What it wrote last is still on its way.
                if answer := holds():
                    return answer
                words = "\n".join([*self.out[-10:], *self.err[-20:]])
                raise AssertionError(f"{what}: {'it ended' if ended else 'too late'}; it said:\n{words}")
            await asyncio.sleep(0.02)
        return answer

    async def until_log(self, action: str, timeout: float = PATIENCE, **fields: Any) -> dict[str, Any]:
        """The first log line with that action and fields."""

        def found() -> dict[str, Any] | None:
            wanted = {"action": action, **fields}.items()
            return next(
                (line for line in self.logs if wanted <= {k: line.get(k) for k in ("action", *fields)}.items()), None
            )

        line: dict[str, Any] = await self.until(found, f"no log line {action} {fields}", timeout)
        return line


class RunningWorker(Running):
    """`python -m worker`."""

    async def url(self) -> str:
        """Where its health is served."""
        return str((await self.until_log("http_serving"))["url"])

    async def get(self, path: str) -> tuple[int, str]:
        """Status and text of one of its pages."""
        async with aiohttp.ClientSession() as session, session.get(await self.url() + path) as answer:
            return answer.status, await answer.text()

    async def until_ready(self, timeout: float = PATIENCE) -> None:
        """Waits for 200 at /readyz."""
        await self.until_answer("/readyz", 200, timeout)

    async def until_answer(self, path: str, status: int, timeout: float = PATIENCE) -> str:
        """The text of the page once it answers with `status`; fails when the worker ends before or it takes too long."""
        answers: list[str] = []

        async def ask() -> None:
            while not answers:
                with suppress(aiohttp.ClientConnectionError):
                    given, text = await self.get(path)
                    answers.extend([text] if given == status else [])
                await asyncio.sleep(0.05)

        asking = asyncio.create_task(ask())
        try:
            await self.until(lambda: answers, f"no {status} at {path}", timeout)
        finally:
            asking.cancel()
        return answers[0]


@asynccontextmanager
async def started(
    module: str,
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    kind: type[Running] = Running,
) -> AsyncIterator[Running]:
    """`python -m <module> <arguments>` while the block lasts; then it and all that it started are killed."""
    mark = uuid4().hex
    process = await fork_module(module, *map(str, arguments), environ=environment(env or {}, mark), cwd=cwd)
    async with _followed(kind(process, mark)) as running:
        yield running


@asynccontextmanager
async def started_process(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    kind: type[Running] = Running,
    python: Path | str = sys.executable,
) -> AsyncIterator[Running]:
    """The same with any arguments of `python`, or of another one than ours, in an interpreter of its own."""
    mark = uuid4().hex
    process = await asyncio.create_subprocess_exec(
        *map(str, (python, *arguments)),
        env=environment(env or {}, mark),
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LIMIT,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # these tests may run under `nohup`
    )
    async with _followed(kind(process, mark)) as running:
        yield running


@asynccontextmanager
async def _followed(running: Running) -> AsyncIterator[Running]:
    """Collects what it writes while the block lasts; then it and all that it started are killed."""
    process = running.process
    readers = [
        asyncio.create_task(_collect(process.stdout, running.out)),
        asyncio.create_task(_collect(process.stderr, running.err)),
    ]
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            process.kill()  # A worker with commands does not let us see its mark unless we are root.
        kill_marked(running.mark)
        await process.wait()
        await asyncio.wait(readers)


@asynccontextmanager
async def worker(address: str, *, cwd: Path, **settings: str) -> AsyncIterator[RunningWorker]:
    """A worker pod that is ready when the block begins; see `starting_worker`."""
    async with starting_worker(address, cwd=cwd, **settings) as running:
        await running.until_ready()
        yield running


@asynccontextmanager
async def starting_worker(address: str, *, cwd: Path, **settings: str) -> AsyncIterator[RunningWorker]:
    """A worker pod that has just been started, with health on a free port.

    `settings` are TICKWRIGHT_ names in lower case without the prefix, or whole names in upper case.
    """
    given = {name if name.isupper() else f"TICKWRIGHT_{name.upper()}": value for name, value in settings.items()}
    env = {"TEMPORAL_ADDRESS": address, "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0", **given}
    async with started("worker", env=env, cwd=cwd, kind=RunningWorker) as running:
        assert isinstance(running, RunningWorker)
        yield running


def marked(mark: str) -> list[psutil.Process]:
    """Every living process that was started under the mark, however deep and whoever its parent is by now."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


async def until_none_left(mark: str, timeout: float = PATIENCE) -> None:
    """Waits until no process of the mark lives. Raises AssertionError that names those that do."""
    deadline = time.monotonic() + timeout
    while left := marked(mark):
        assert time.monotonic() < deadline, f"left behind: {left}"
        await asyncio.sleep(0.05)


def kill_marked(mark: str) -> None:
    """Ends every process of the mark at once."""
    while left := marked(mark):
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=0.2)


async def _collect(stream: asyncio.StreamReader | None, lines: list[str]) -> None:
    assert stream is not None
    async for line in stream:
        lines.append(line.decode(errors="replace").rstrip("\n"))  # noqa: PERF401 - each line is wanted as it comes
