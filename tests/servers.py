"""Real Temporal dev servers for tests: in memory, on a free port, gone with the test that started them."""

from __future__ import annotations

import asyncio
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from activities.handlers.process import GuardedProcess
from schedules.plan.fingerprint import ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOST = "127.0.0.1"
START_SECONDS = 60.0
FAST_FILE = ("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal")
"""Commits survive the death of the process, if not of the machine, at half the cost."""
TEMPORAL = Path(sys.executable).with_name("temporal")
TEST_SERVER = Path(sys.executable).with_name("temporal-test-server")


@dataclass(frozen=True)
class DevServer:
    """A running server; `address` is host:port."""

    address: str
    process: GuardedProcess

    def stop(self) -> None:
        """Ends it, and waits until it has ended; once more does nothing."""
        self.process.close()
        self.process._guard.wait(timeout=20)

    def kill(self) -> None:
        """Ends it without any chance to say good-bye."""
        for temporal in psutil.Process(self.process._guard.pid).children():
            temporal.kill()
        self.stop()

    @contextmanager
    def hung(self) -> Iterator[None]:
        """It takes connections and answers nothing while the block lasts."""
        [temporal] = psutil.Process(self.process._guard.pid).children()
        temporal.suspend()
        try:
            yield
        finally:
            temporal.resume()

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def environ(self) -> dict[str, str]:
        """What a command needs to find it."""
        return {"TEMPORAL_ADDRESS": self.address}


def free_port() -> int:
    """A port of the loopback address on which nobody listens now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def dev_server(
    *,
    port: int | None = None,
    database: Path | None = None,
    owner_attribute: bool = True,
    config: Sequence[str] = (),
) -> Iterator[DevServer]:
    """A server that answers; it ends with the block, and with this process however that ends.

    `database` keeps its state in a file; without `owner_attribute` the namespace knows none of our search attributes; `config`
    are settings of the server, each as key=value.
    """
    address = f"{HOST}:{port or free_port()}"
    argv = [str(TEMPORAL), "server", "start-dev", "--headless", "--ip", HOST, "--port", address.rpartition(":")[2]]
    argv += ["--log-level", "error"]
    for attribute in ATTRIBUTES if owner_attribute else ():
        argv += ["--search-attribute", f"{attribute}=Keyword"]
    argv += ["--db-filename", str(database), *FAST_FILE] if database else []
    for setting in config:
        argv += ["--dynamic-config-value", setting]
    server = DevServer(address, GuardedProcess(argv, grace=5))
    try:
        with ThreadPoolExecutor(1) as thread:  # An async test has a loop of its own.
            thread.submit(asyncio.run, until_up(address)).result()
        yield server
    finally:
        server.stop()


async def until_up(address: str) -> None:
    """Waits until the default namespace can be used. Raises TimeoutError."""
    async with asyncio.timeout(START_SECONDS):
        while True:
            with suppress(RuntimeError, RPCError):
                client = await Client.connect(address)
                request = DescribeNamespaceRequest(namespace=client.namespace)
                await client.service_client.workflow_service.describe_namespace(request)
                return
            await asyncio.sleep(0.05)


async def delete_schedules(address: str) -> None:
    """Deletes every schedule of the default namespace."""
    client = await Client.connect(address)
    async for schedule in await client.list_schedules():
        with suppress(RPCError):
            await client.get_schedule_handle(schedule.id).delete()
