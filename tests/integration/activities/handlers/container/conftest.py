"""A real Podman, and steps that run on it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
import structlog

from activities.handlers.lasting import KEY
from activities.handlers.table import Containers
from activities.steps.log_lines import keep_line
from tests.podman import IMAGE, NoPodmanError, Podman, podman_service
from tests.step_calls import bench, step_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from activities.contract import StepCall, StepResult
    from tests.step_calls import Bench


@dataclass
class Step:
    """One step of one occurrence, run as often as the test wants, each time as if in another worker."""

    podman: Podman
    run_id: str
    mounts: tuple[str, ...] = ()

    @property
    def containers(self) -> list[dict[str, Any]]:
        """Its containers, running or not."""
        return [each for each in self.podman.containers() if self.run_id in each["Config"]["Labels"].get(KEY, "")]

    @property
    def states(self) -> list[str]:
        """Theirs."""
        return [each["State"]["Status"] for each in self.containers]

    def call(self, *argv: str, timeout: float = 30.0, last: Any = None, **params: Any) -> StepCall:
        """The call of an attempt; `last` is the last heartbeat of the one before."""
        given = {"image": IMAGE, "args": list(argv), "network": "none", **params}
        made = replace(step_call("container", given, timeout=timeout), job=f"job-{self.run_id}")
        return replace(made, last_heartbeat=[] if last is None else [last])

    @asynccontextmanager
    async def worker(self, **settings: Any) -> AsyncIterator[Bench]:
        """A worker that may run containers."""
        containers = Containers(allowed=True, socket=self.podman.socket, mounts=self.mounts)
        async with bench(containers=containers, **settings) as made:
            yield made

    async def run(self, *argv: str, **options: Any) -> StepResult:
        """One attempt in a worker of its own."""
        async with self.worker() as made:
            return await made.run(self.call(*argv, **options))


@pytest.fixture(scope="session")
def podman() -> Iterator[Podman]:
    """The service that the tests of one xdist worker share."""
    try:
        with podman_service() as running:
            yield running
    except NoPodmanError as error:
        pytest.skip(f"no Podman to test with: {error}")


@pytest.fixture
def step(podman: Podman) -> Iterator[Step]:
    """A step that no other test has; its containers end with the test."""
    made = Step(podman, uuid4().hex[:10])
    yield made
    for each in made.containers:
        podman.run("rm", "--force", "--time", "0", each["Id"])


@pytest.fixture(autouse=True)
def _log_lines() -> Iterator[None]:
    """As in a worker, what is logged belongs to the attempt."""
    structlog.configure(processors=[keep_line, structlog.dev.ConsoleRenderer()])
    yield
    structlog.reset_defaults()
