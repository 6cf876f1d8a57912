"""Finished runs as `worker.dev` reads them from a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from structlog.testing import capture_logs
from temporalio.client import Client, WorkflowHandle
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from activities.contract import JOB_WORKFLOW, OWNER_ATTRIBUTE, JobRequest
from tests.processes import worker
from tests.runs import request, shell
from tests.servers import DevServer, dev_server
from worker.dev.feed import FinishedRun, finished_runs


async def start_owned(client: Client, what: JobRequest, owner: str, day: int) -> WorkflowHandle[object, object]:
    """An occurrence with the owner's mark, as schedules start them."""
    mark = SearchAttributePair(SearchAttributeKey.for_keyword(OWNER_ATTRIBUTE), owner)
    return await client.start_workflow(
        JOB_WORKFLOW,
        what,
        id=f"{what.job}-2027-03-0{day}T13:00:00Z",
        task_queue=what.job,
        search_attributes=TypedSearchAttributes([mark]),
    )


@asynccontextmanager
async def feed(client: Client, owner: str) -> AsyncIterator[list[FinishedRun]]:
    """What the feed has yielded so far; all of it once the block has ended."""
    shown: list[FinishedRun] = []
    ended = asyncio.Event()

    async def follow() -> None:
        async for run in finished_runs(client, owner, datetime.now(UTC), ended):
            shown.append(run)  # noqa: PERF401 - each run is wanted as it comes

    reading = asyncio.create_task(follow())
    try:
        yield shown
    finally:
        ended.set()
        await reading


async def until_shown(shown: list[FinishedRun], count: int) -> None:
    async with asyncio.timeout(60):
        while len(shown) < count:  # noqa: ASYNC110 - the feed has no event for it
            await asyncio.sleep(0.05)


async def test_every_way_to_end_is_shown_once(server: DevServer, client: Client, name: str, tmp_path: Path) -> None:
    owner = f"{name}/production"
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"),
        feed(client, owner) as shown,
    ):
        await start_owned(client, request(params=shell("echo one; echo two"), job=name), owner, 1)
        await until_shown(shown, 1)
        await start_owned(client, request(params=shell("exit 3"), job=name), owner, 2)
        await until_shown(shown, 2)
        sleeper = request(params=shell("sleep 600"), job=name, heartbeat_timeout=5.0)
        await (await start_owned(client, sleeper, owner, 3)).cancel()
        await until_shown(shown, 3)
        await (await start_owned(client, sleeper, owner, 4)).terminate()
        await until_shown(shown, 4)
    assert [(run.scheduled_at[8:10], run.outcome) for run in shown] == [
        ("01", "succeeded"),
        ("02", "failed"),
        ("03", "cancelled"),
        ("04", "terminated"),
    ]
    assert {run.job for run in shown} == {name}
    assert [run.printed for run in shown] == ["two", "", "", ""]
    assert [(run.attempts, run.duration is None) for run in shown] == [
        (1, False),
        (1, False),
        (None, True),
        (None, True),
    ]
    assert "exit code 3" in shown[1].reason


async def test_runs_of_other_owners_are_not_shown(server: DevServer, client: Client, name: str, tmp_path: Path) -> None:
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"),
        feed(client, f"{name}/production") as shown,
    ):
        other = await start_owned(client, request(job=name), f"{name}/staging", 1)
        await other.result()
        await start_owned(client, request(job=name), f"{name}/production", 2)
        await until_shown(shown, 1)
    assert [run.scheduled_at[8:10] for run in shown] == ["02"]


async def test_a_server_that_is_away_for_a_while_interrupts_the_feed_and_does_not_end_it(
    name: str, tmp_path: Path
) -> None:
    owner, database = f"{name}/production", tmp_path / "temporal.db"
    with ExitStack() as servers:
        first = servers.enter_context(dev_server(database=database))
        client = await Client.connect(first.address)
        with capture_logs() as lines:
            async with feed(client, owner) as shown:
                first.stop()
                async with asyncio.timeout(60):
                    while "feed_unanswered" not in [line["action"] for line in lines]:  # noqa: ASYNC110 - as above
                        await asyncio.sleep(0.05)
                servers.enter_context(dev_server(port=first.port, database=database))
                async with worker(first.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
                    await start_owned(client, request(params=shell("echo one; echo two"), job=name), owner, 1)
                    await until_shown(shown, 1)
    assert [run.outcome for run in shown] == ["succeeded"]
