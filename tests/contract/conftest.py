"""The same cases on the twin in memory and on a real server."""

from __future__ import annotations

import pytest
from temporalio.client import Client
from temporalio.converter import DataConverter

from schedules.server.codec import data_converter
from schedules.server.codec_keys import CodecKeys
from schedules.testing import Habits
from tests.contract.world import ServerWorld, TwinWorld, World
from tests.servers import DevServer

ENCRYPTED = data_converter(CodecKeys("k1", {"k1": bytes(range(32))}))
PLACES = {
    "server": ("server", DataConverter.default),
    "server, encrypted": ("server", ENCRYPTED),
    "V2 server": ("v2_server", DataConverter.default),
    "V2 server, encrypted": ("v2_server", ENCRYPTED),
}


@pytest.fixture(params=["twin", "V2 twin", *PLACES])
def place(request: pytest.FixtureRequest) -> tuple[DevServer, DataConverter] | None:
    """None is the memory of this process."""
    if request.param.endswith("twin"):
        return None
    fixture, converter = PLACES[request.param]
    return request.getfixturevalue(fixture), converter


@pytest.fixture
def v2(request: pytest.FixtureRequest) -> bool:
    """Whether the world's schedules are V2."""
    return str(request.node.callspec.params["place"]).startswith("V2")


@pytest.fixture
async def world(place: tuple[DevServer, DataConverter] | None, v2: bool) -> World:
    if place is None:
        return TwinWorld(Habits(v2=v2))
    server, converter = place
    return ServerWorld(await Client.connect(server.address, data_converter=converter))
