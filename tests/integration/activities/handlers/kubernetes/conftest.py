"""A cluster in memory, and steps that run on it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import kmock
import pytest
import structlog

from activities.contract import RetryRequest
from activities.steps.log_lines import keep_line
from tests.kubernetes import NAMESPACE, Cluster, write_kubeconfig
from tests.step_calls import bench, step_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from activities.contract import StepCall, StepResult
    from tests.step_calls import Bench

PRODUCT = "activities.handlers.kubernetes"
PAUSES = {
    "step.PAUSE": 0.005,
    "own_job.PAUSE": 0.005,
    "own_job.QUOTA_PAUSE": 0.01,
    "step._FOLLOW_PAUSE": 0.01,
    "cluster._PAUSE": 0.01,
    "cluster._REFUSED_SECONDS": 0.01,
    "run.KEPT_AFTER_END": 0.05,
    "step._PENDING_SECONDS": 0.05,
}


@dataclass
class Step:
    """One step of one occurrence, run as often as the test wants, each time as if in another worker."""

    cluster: Cluster
    run_id: str

    def call(
        self, *argv: str, timeout: float = 20.0, start_timeout: float | None = None, last: Any = None, **params: Any
    ) -> StepCall:
        """The call of an attempt; `last` is the last heartbeat of the one before."""
        image = {} if "template" in params else {"image": "report:1", "args": list(argv)}
        given = {"namespace": NAMESPACE, **image, **params}
        made = replace(step_call("kubernetes", given, timeout=timeout, retry=RetryRequest(3)), job=f"job-{self.run_id}")
        step = replace(made.step, start_timeout=start_timeout)
        return replace(made, step=step, last_heartbeat=[] if last is None else [last])

    @asynccontextmanager
    async def worker(self, **settings: Any) -> AsyncIterator[Bench]:
        """A worker that may run Jobs."""
        async with bench(kubernetes_namespaces=(NAMESPACE,), **settings) as made:
            yield made

    async def run(self, *argv: str, **options: Any) -> StepResult:
        """One attempt in a worker of its own."""
        async with self.worker() as made:
            return await made.run(self.call(*argv, **options))

    def begin(self, *argv: str, **options: Any) -> asyncio.Task[StepResult]:
        """The same, beside the test."""
        return asyncio.create_task(self.run(*argv, **options))


@pytest.fixture
async def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    """Its garbage collector runs; all that it was sent is valid."""
    async with Cluster() as made, kmock.Server(made) as server:
        write_kubeconfig(tmp_path / "kubeconfig", str(server.url))
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        for name, seconds in PAUSES.items():
            monkeypatch.setattr(f"{PRODUCT}.{name}", seconds)
        collecting = asyncio.create_task(made.collect_garbage())
        yield made
        collecting.cancel()
        with suppress(asyncio.CancelledError):
            await collecting
    assert made.problems == []


@pytest.fixture
def step(cluster: Cluster) -> Step:
    """A step that no other test has."""
    return Step(cluster, uuid4().hex[:10])


@pytest.fixture(autouse=True)
def _log_lines() -> Iterator[None]:
    """As in a worker, what is logged belongs to the attempt."""
    structlog.configure(processors=[keep_line, structlog.dev.ConsoleRenderer()])
    yield
    structlog.reset_defaults()
