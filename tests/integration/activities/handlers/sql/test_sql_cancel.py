"""A statement ends in the database, too, when its step is cancelled, out of time, or its worker gone."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import psycopg
import pytest
from temporalio.exceptions import ApplicationError

from tests.integration.activities.handlers.sql.conftest import PAY
from tests.waiting import until

if TYPE_CHECKING:
    from tests.integration.activities.handlers.sql.conftest import Steps

ENDLESS = {
    "postgresql": "SELECT pg_sleep(600)",
    "sqlite": "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
}
RUN_STEP = """
import asyncio, sys
from tests.step_calls import bench, step_call

async def main():
    async with bench(secrets={"DATABASE": sys.argv[1]}) as made:
        await made.run(step_call("sql", {"connection": "${secret:DATABASE}", "statement": sys.argv[2]}))

asyncio.run(main())
"""


def _at_work(steps: Steps) -> int:
    """Sessions in the database that run a statement, but for this one's."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND query LIKE '%pg_sleep%' AND state <> 'idle'"
    )
    with psycopg.connect(steps.url) as connection:
        [count] = connection.execute(query).fetchone() or (0,)
    return int(count)


@pytest.mark.parametrize("before", ["", f"{PAY}; "])
async def test_a_cancelled_step_ends_its_statement_and_leaves_nothing(steps: Steps, before: str) -> None:
    kind = steps.url.partition(":")[0]
    step = steps.run(before + ENDLESS[kind], amount=1) if before else steps.run(ENDLESS[kind])
    running = asyncio.create_task(step)
    if kind == "postgresql":
        await until(lambda: _at_work(steps))
    else:
        await asyncio.sleep(0.3)
    steps.bench.environment.cancel()
    began = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - began < 30
    assert steps.rows() == []
    assert kind == "sqlite" or _at_work(steps) == 0


async def test_a_step_that_is_out_of_time_has_ended_its_statement(steps: Steps) -> None:
    kind = steps.url.partition(":")[0]
    with pytest.raises(ApplicationError, match="timed out after 1 s"):
        await steps.run(f"{PAY}; {ENDLESS[kind]}", timeout=1, amount=1)
    assert steps.rows() == []
    assert kind == "sqlite" or _at_work(steps) == 0


async def test_the_statement_of_a_killed_worker_ends_by_itself(on_postgresql: Steps) -> None:
    argv = [sys.executable, "-c", RUN_STEP, on_postgresql.url, ENDLESS["postgresql"]]
    process = await asyncio.create_subprocess_exec(*argv)
    await until(lambda: _at_work(on_postgresql))
    process.kill()
    await process.wait()
    await until(lambda: not _at_work(on_postgresql))


async def test_the_server_itself_ends_a_statement_at_the_timeout(on_postgresql: Steps) -> None:
    result = await on_postgresql.run(
        "SELECT current_setting('statement_timeout') AS a, current_setting('idle_in_transaction_session_timeout') AS b",
        timeout=7,
    )
    assert result.output["rows"] == [{"a": "7s", "b": "7s"}]
    with psycopg.connect(on_postgresql.url) as connection:
        assert connection.execute("SHOW statement_timeout").fetchone() == ("0",)
