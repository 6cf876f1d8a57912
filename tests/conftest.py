"""What every test may ask for: real servers, and clients of them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from temporalio.client import Client

from tests.postgres import PostgresServer, postgres_server
from tests.receiver import Receiver, receiver
from tests.schedulers import V2
from tests.servers import DevServer, dev_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator


@pytest.fixture(scope="session")
def server() -> Iterator[DevServer]:
    """The dev server that the tests of one xdist worker share; it knows the search attribute of owners."""
    with dev_server() as running:
        yield running


@pytest.fixture(scope="session")
def v2_server() -> Iterator[DevServer]:
    """The same with Temporal's other scheduler: every schedule on it is V2."""
    with dev_server(config=V2) as running:
        yield running


@pytest.fixture(params=["V1", "V2"])
def either_server(request: pytest.FixtureRequest) -> DevServer:
    """Both shared servers, one after the other: for what has to work on both schedulers."""
    server: DevServer = request.getfixturevalue("server" if request.param == "V1" else "v2_server")
    return server


@pytest.fixture
def own_server() -> Iterator[DevServer]:
    """A dev server for one test alone."""
    with dev_server() as running:
        yield running


@pytest.fixture
def start_server() -> Iterator[Callable[..., DevServer]]:
    """Starts dev servers (see `dev_server`) that end with the test."""
    with ExitStack() as running:
        yield lambda **options: running.enter_context(dev_server(**options))


@pytest.fixture
async def client(server: DevServer) -> Client:
    """A client of the shared server."""
    return await Client.connect(server.address)


@pytest.fixture
async def either_client(either_server: DevServer) -> Client:
    """A client of each of the two."""
    return await Client.connect(either_server.address)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The PostgreSQL server that the tests of one xdist worker share."""
    with postgres_server() as running:
        yield running


@pytest.fixture
async def service() -> AsyncIterator[Receiver]:
    """Who notifications and pings are sent to."""
    async with receiver() as made:
        yield made


@pytest.fixture
def name() -> str:
    """A name that no other test uses: for projects, jobs and task queues on the shared server."""
    return f"t{uuid4().hex[:10]}"
