"""What every test may ask for: real servers, and clients of them. Where tests run in an order of their own, and with which signals."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from temporalio.client import Client
from xdist.scheduler import LoadScopeScheduling

from tests.postgres import PostgresServer, postgres_server
from tests.receiver import Receiver, receiver
from tests.schedulers import V2
from tests.servers import DevServer, delete_schedules, dev_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from xdist.remote import Producer

USUAL_SIGNALS: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
TOGETHER = ("e2e/test_board.py", "e2e/test_new_project.py")
"""Files whose tests share what takes minutes to make: one process runs all of a file."""
LONGEST_FIRST = (
    "e2e/test_board.py",
    "integration/activities/late/test_outages.py",
    "soak/test_soak.py",
    "chaos/test_chaos.py",
    "integration/worker/health/test_worker_health.py",
    "integration/worker/test_half_rolled_out.py",
    "integration/worker/dev/test_readme_tour.py",
    "e2e/test_monitor.py",
    "integration/worker/test_upgrade.py",
    "integration/activities/late/test_late_start.py",
)
"""Files whose tests mostly wait, and for how long: they begin first, so that no process is left alone with one at the end."""
QUICK = ("unit/", "property/", "oracle/")
"""Rooms whose tests wait for nothing: they come last, and fill what the others leave of the processors."""
_shared: set[str] = set()
"""The addresses of the servers that tests share."""


def pytest_configure() -> None:
    """Without a `TZ` the machine's time zone is one that nobody means; signals do what they usually do.

    A process in the background of a shell, or under `nohup`, ignores those that tests send to what they start.
    """
    os.environ.setdefault("TZ", "Pacific/Chatham")
    time.tzset()
    settings.register_profile("no-seconds", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("no-seconds")  # how long an example takes says how busy the machine is
    for number, usual in USUAL_SIGNALS.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits longest comes first, what only computes comes last."""
    items.sort(key=lambda item: _turn(item.nodeid.removeprefix("tests/")))


class _Turns(LoadScopeScheduling):
    """Gives the next free process the next test, or all of a file in TOGETHER."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if file.endswith(TOGETHER) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """The turns of tests, in the order in which they were collected; their names stay, also for `--last-failed`."""
    config.option.loadscopereorder = False
    return _Turns(config, log)


def _turn(name: str) -> int:
    for turn, file in enumerate(LONGEST_FIRST):
        if name.startswith(file):
            return turn
    return len(LONGEST_FIRST) + name.startswith(QUICK)


@pytest.fixture(scope="session")
def server() -> Iterator[DevServer]:
    """The dev server that the tests of one xdist worker share; it knows the search attribute of owners."""
    with dev_server() as running:
        _shared.add(running.address)
        yield running
        _shared.remove(running.address)


@pytest.fixture(scope="session")
def v2_server() -> Iterator[DevServer]:
    """The same with Temporal's other scheduler: every schedule on it is V2."""
    with dev_server(config=V2) as running:
        _shared.add(running.address)
        yield running
        _shared.remove(running.address)


@pytest.fixture(scope="module", autouse=True)
def _no_schedules_left() -> Iterator[None]:
    """Schedules of seconds, which go on starting runs, do not outlive the tests of their file."""
    yield
    with ThreadPoolExecutor(1) as thread:
        for address in _shared:
            thread.submit(asyncio.run, delete_schedules(address)).result()


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
