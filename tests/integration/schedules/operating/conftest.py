"""All of it on both of Temporal's schedulers."""

from __future__ import annotations

import pytest

from tests.servers import DevServer


@pytest.fixture(params=["V1", "V2"])
def server(request: pytest.FixtureRequest, server: DevServer) -> DevServer:
    """The shared server with V1 schedules, and the one with V2 schedules."""
    if request.param == "V1":
        return server
    other: DevServer = request.getfixturevalue("v2_server")
    return other
