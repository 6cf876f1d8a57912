"""The same cases on the twin in memory and on a real server."""

from __future__ import annotations

import pytest
from temporalio.client import Client

from tests.contract.world import ServerWorld, TwinWorld, World
from tests.servers import DevServer


@pytest.fixture(params=["twin", "server"])
def place(request: pytest.FixtureRequest) -> DevServer | None:
    """None is the memory of this process."""
    if request.param == "twin":
        return None
    server: DevServer = request.getfixturevalue("server")
    return server


@pytest.fixture
async def world(place: DevServer | None) -> World:
    return TwinWorld() if place is None else ServerWorld(await Client.connect(place.address))
