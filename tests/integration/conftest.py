"""What tests of several files here ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.integration.operating import last_hour
from tests.integration.scenes import Scene
from tests.processes import worker
from tests.servers import DevServer


@pytest.fixture(autouse=True)
def hour_of_its_own() -> None:
    """Lets each test work out the last full hour anew, and once."""
    last_hour.cache_clear()


@pytest.fixture
async def scene(server: DevServer, client: Client, name: str, tmp_path: Path) -> AsyncIterator[Scene]:
    """Jobs on the shared server, and a worker that runs them in the test's folder."""
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"),
        Scene(client, name) as made,
    ):
        yield made
