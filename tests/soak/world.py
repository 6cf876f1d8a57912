"""The processes of the soak: a server with its database in a file, workers of two queues, and the log of who was there."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psutil

from tests.processes import ROOT, RunningWorker, starting_worker
from tests.servers import DevServer, dev_server, free_port
from tests.soak.jobs import QUEUES
from tests.soak.presence import MOMENT, RESTARTED, RESUMED, Presence

if TYPE_CHECKING:
    from pathlib import Path

V2 = ("history.enableCHASMSchedulerCreation=true", "history.chasmSchedulerCreationRolloutPercent=100")
RARELY_ASKED = ("frontend.namespaceRPS.visibility=1",)
STARTING = 300.0
"""Seconds that a worker may need until it polls, on a machine that others use."""
WORKERS = {"a1": QUEUES[0], "a2": QUEUES[0], "b1": QUEUES[1]}


@dataclass
class World:
    """`events` is the log, a line for each change."""

    folder: Path
    scheduler: str
    settings: dict[str, str]
    port: int = field(default_factory=free_port)
    events: list[dict[str, Any]] = field(default_factory=list)
    presence: dict[str, Presence] = field(default_factory=dict)
    running: dict[str, RunningWorker] = field(default_factory=dict)
    dev: DevServer | None = None
    _server: ExitStack = field(default_factory=ExitStack)
    _stacks: dict[str, AsyncExitStack] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def log(self, what: str, **facts: Any) -> None:
        line = {"at": round(time.time(), 3), "what": what, **facts}
        self.events.append(line)
        with (self.folder / "events.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def of(self, name: str) -> Presence:
        return self.presence.setdefault(name, Presence())

    async def start_server(self, *, rarely_asked: bool = False) -> None:
        config = (V2 if self.scheduler == "v2" else ()) + (RARELY_ASKED if rarely_asked else ())
        self.of("server").returns(time.time())
        self.log("server starts", rarely_asked=rarely_asked)
        server = dev_server(port=self.port, database=self.folder / "temporal.db", config=config)
        self.dev = await asyncio.to_thread(self._server.enter_context, server)
        self.of("server").is_there(time.time(), RESTARTED)
        self.log("server is up")

    async def end_server(self, *, kill: bool) -> None:
        assert self.dev
        self.log("server ends", kill=kill)
        self.of("server").leaves(time.time())
        await asyncio.to_thread(self.dev.kill if kill else self.dev.stop)
        self._server.close()
        self._server = ExitStack()
        self.of("server").is_gone(time.time())
        self.log("server is gone")

    async def freeze_server(self, length: float) -> None:
        """SIGSTOP and SIGCONT."""
        presence, [process] = self.of("server"), self._server_processes()
        self.log("server is stopped", seconds=length)
        presence.leaves(time.time())
        process.suspend()
        presence.is_gone(time.time())
        await asyncio.sleep(length)
        presence.returns(time.time())
        process.resume()
        presence.is_there(time.time(), RESTARTED if length > MOMENT else RESUMED)
        self.log("server goes on")

    def _server_processes(self) -> list[psutil.Process]:
        assert self.dev
        return psutil.Process(self.dev.process._guard.pid).children()

    async def start_worker(self, name: str) -> None:
        """Begins; it is there once it says that it polls."""
        stack = self._stacks[name] = AsyncExitStack()
        settings = {**self.settings, "task_queue": WORKERS[name], "build_id": "soak"}
        self.of(name).returns(time.time())
        self.log("worker starts", name=name)
        self.running[name] = await stack.enter_async_context(
            starting_worker(self.address, cwd=self.folder, PYTHONPATH=f"{ROOT}:{self.folder}", **settings)
        )

    async def until_there(self, name: str) -> None:
        await self.running[name].until_log("worker_ready", timeout=STARTING)
        self.of(name).is_there(time.time(), RESUMED)
        self.log("worker is up", name=name)

    async def end_worker(self, name: str, number: signal.Signals) -> None:
        self.log("worker ends", name=name, signal=number.name)
        self.of(name).leaves(time.time())
        self.running[name].signal(number)
        await self.running[name].wait(60)
        self.of(name).is_gone(time.time())
        self.log("worker is gone", name=name)
        self._keep_log(name)
        await self._stacks.pop(name).aclose()

    def freeze_worker(self, name: str) -> None:
        self.log("worker is stopped", name=name)
        self.of(name).leaves(time.time())
        psutil.Process(self.running[name].pid).suspend()
        self.of(name).is_gone(time.time())

    def thaw_worker(self, name: str) -> None:
        self.of(name).returns(time.time())
        psutil.Process(self.running[name].pid).resume()
        self.of(name).is_there(time.time(), RESUMED)
        self.log("worker goes on", name=name)

    def _keep_log(self, name: str) -> None:
        with (self.folder / f"worker-{name}.log").open("a") as file:
            file.writelines(f"{line}\n" for line in self.running[name].err)

    async def close(self) -> None:
        for name in list(self._stacks):
            self._keep_log(name)
            await self._stacks.pop(name).aclose()
        await asyncio.to_thread(self._server.close)
        for presence in self.presence.values():
            presence.end(time.time())
