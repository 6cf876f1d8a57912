"""Real workers and a real server: an attempt stands still past its heartbeat timeout, another commits, the first comes back."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowHandle

from activities.contract import JobResult, RetryRequest
from tests.effects import Driver, Psycopg, Sqlite, with_payments
from tests.processes import RunningWorker, worker
from tests.runs import failure, request, start
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.servers import DevServer

pytestmark = pytest.mark.timeout(120)
MODULE = "tests.zombie_jobs"
HEARTBEAT_TIMEOUT = 2.0


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


@asynccontextmanager
async def working(server: DevServer, folder: Path, name: str) -> AsyncIterator[RunningWorker]:
    """A worker that takes one step at a time: while it stands still, it is given no other."""
    async with worker(server.address, cwd=folder, task_queue=name, modules=MODULE, max_concurrent_steps="1") as running:
        yield running


async def pay(
    client: Client, name: str, folder: Path, driver: Driver, attempts: int = 30, **params: Any
) -> WorkflowHandle[Any, JobResult]:
    step = {"handler": "zombie-pay", "params": {"database": driver.url, "folder": str(folder), **params}}
    retry = RetryRequest(max_attempts=attempts, backoff="fixed", initial=0.2)
    wanted = request("python", step, job=name, retry=retry, timeout=60.0, heartbeat_timeout=HEARTBEAT_TIMEOUT)
    return await start(client, wanted, name)


@asynccontextmanager
async def a_zombie(
    server: DevServer, name: str, folder: Path, driver: Driver, point: str
) -> AsyncIterator[tuple[WorkflowHandle[Any, JobResult], RunningWorker, RunningWorker]]:
    """The run, the worker that stands still in its first attempt, and another one that has just started."""
    client = await Client.connect(server.address)
    async with working(server, folder, name) as first:
        run = await pay(client, name, folder, driver, stop=point)
        await until(lambda: lines(folder / "stopped") and psutil.Process(first.pid).status() == psutil.STATUS_STOPPED)
        async with working(server, folder, name) as second:
            yield run, first, second


@pytest.mark.parametrize(
    ("point", "came_back", "paid"),
    [
        ("before", "1 returned ", [(12,), (12,)]),
        ("written", "1 SupersededAttemptError", [(12,), (12,)]),
        ("same_row", "1 SupersededAttemptError", [(13,)]),
        ("committing", "1 AdminShutdown", [(12,), (12,)]),
    ],
)
async def test_a_zombie_cannot_commit_when_it_comes_back(
    point: str,
    came_back: str,
    paid: list[tuple[int]],
    server: DevServer,
    name: str,
    tmp_path: Path,
    new_database: Callable[..., str],
) -> None:
    """There is one payment before the run, so that two attempts can meet in its row."""
    driver = with_payments(Psycopg, new_database(Psycopg))
    await driver.pay("earlier")
    async with a_zombie(server, name, tmp_path, driver, point) as (run, first, second):
        await second.until_log("step_finished")
        assert driver.rows() == paid
        assert psutil.Process(first.pid).status() == psutil.STATUS_STOPPED

        first.signal(signal.SIGCONT)
        await first.until(lambda: [line for line in lines(tmp_path / "ended") if line.startswith("1 ")], "its end")
        result = await run.result()

    assert result.outcome == "succeeded"
    by = result.steps[0].output["by"]
    assert by >= 2
    assert f"{by} returned {by}" in lines(tmp_path / "ended")
    assert [line for line in lines(tmp_path / "ended") if line.startswith(came_back)]
    assert driver.rows() == paid


async def test_on_sqlite_later_attempts_wait_for_the_zombie_and_give_its_result(
    server: DevServer, name: str, tmp_path: Path, new_database: Callable[..., str]
) -> None:
    """Nobody can end a writer of SQLite but the system; the payment is there once all the same."""
    driver = with_payments(Sqlite, new_database(Sqlite))
    async with a_zombie(server, name, tmp_path, driver, "written") as (run, first, second):
        await second.until_log("step_failed")
        assert driver.rows() == []

        first.signal(signal.SIGCONT)
        result = await run.result()

    assert (result.outcome, result.steps[0].output) == ("succeeded", {"by": 1})
    assert result.attempts is not None
    assert result.attempts >= 2
    assert "2 EffectBusyError" in lines(tmp_path / "ended")
    assert driver.rows() == [(12,)]


async def reset(client: Client, run: WorkflowHandle[Any, JobResult]) -> WorkflowHandle[Any, JobResult]:
    """The run again from its first workflow task, as `temporal workflow reset --type FirstWorkflowTask` does it."""
    answer = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=run.id, run_id=run.first_execution_run_id or ""),
            reason="test",
            request_id=run.id,
            workflow_task_finish_event_id=4,
        )
    )
    return client.get_workflow_handle(run.id, run_id=answer.run_id, result_type=JobResult)


async def test_a_reset_run_has_the_same_key_and_pays_no_second_time(
    server: DevServer, client: Client, name: str, tmp_path: Path, new_database: Callable[..., str]
) -> None:
    driver = with_payments(Psycopg, new_database(Psycopg))
    async with working(server, tmp_path, name):
        run = await pay(client, name, tmp_path, driver)
        first = await run.result()
        again = await (await reset(client, run)).result()

    [one, other] = [line.split() for line in lines(tmp_path / "keys")]
    assert one[0] == other[0] == f"billing/production/{name}/2027-03-01T13:00:00Z/run"
    assert one[1] != other[1]
    assert first.steps[0].output == again.steps[0].output == {"by": 1}
    assert driver.payments == 1


async def test_a_reset_of_a_run_that_failed_counts_from_one_and_pays(
    server: DevServer, client: Client, name: str, tmp_path: Path, new_database: Callable[..., str]
) -> None:
    driver = with_payments(Psycopg, new_database(Psycopg))
    (tmp_path / "fail").touch()
    async with working(server, tmp_path, name):
        run = await pay(client, name, tmp_path, driver, attempts=3)
        assert "the network" in (await failure(run)).message
        (tmp_path / "fail").unlink()
        again = await (await reset(client, run)).result()

    assert lines(tmp_path / "ended") == ["1 ConnectionError", "2 ConnectionError", "3 ConnectionError", "1 returned 1"]
    assert (again.outcome, again.attempts) == ("succeeded", 1)
    assert driver.payments == 1
