"""A database for each test, on PostgreSQL and on SQLite, and steps that run on it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from activities.idempotency.database import connected
from activities.steps.log_lines import keep_line
from tests.step_calls import bench, step_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from activities.contract import StepResult
    from tests.postgres import PostgresServer
    from tests.step_calls import Bench

TABLE = {
    "postgresql": "CREATE TABLE payments (id serial PRIMARY KEY, amount integer)",
    "sqlite": "CREATE TABLE payments (id integer PRIMARY KEY, amount integer)",
}
PAY = "INSERT INTO payments (amount) VALUES (:amount)"


@dataclass
class Steps:
    """Runs `sql` steps on one database, which has a table `payments`."""

    bench: Bench
    url: str

    async def run(
        self, statement: str, *, timeout: float = 30.0, autocommit: bool = False, **parameters: Any
    ) -> StepResult:
        """One attempt."""
        params: dict[str, Any] = {"connection": "${secret:DATABASE}", "statement": statement, "parameters": parameters}
        return await self.bench.run(
            step_call("sql", params | ({"autocommit": True} if autocommit else {}), timeout=timeout)
        )

    def rows(self, query: str = "SELECT amount FROM payments") -> list[tuple[Any, ...]]:
        """What another session sees."""
        with connected(self.url) as connection:
            return [tuple(row) for row in connection.execute(query).fetchall()]


@asynccontextmanager
async def steps_on(url: str) -> AsyncIterator[Steps]:
    """Steps on the database, which gets its table."""
    with connected(url) as connection:
        connection.execute(TABLE[url.partition(":")[0]])
        connection.commit()
    async with bench(secrets={"DATABASE": url}) as made:
        yield Steps(made, url)


@pytest.fixture(autouse=True)
def _log_lines() -> Iterator[None]:
    """As in a worker, what is logged belongs to the attempt."""
    structlog.configure(processors=[keep_line, structlog.dev.ConsoleRenderer()])
    yield
    structlog.reset_defaults()


def _sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'jobs.db'}"


@pytest.fixture(params=["postgresql", "sqlite"])
async def steps(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Steps]:
    """Each kind of database."""
    server: PostgresServer | None = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    async with steps_on(server.new_database(migrated=False) if server else _sqlite(tmp_path)) as made:
        yield made


@pytest.fixture
async def on_postgresql(postgres: PostgresServer) -> AsyncIterator[Steps]:
    """A database of PostgreSQL without the table of the keys."""
    async with steps_on(postgres.new_database(migrated=False)) as made:
        yield made


@pytest.fixture
async def on_sqlite(tmp_path: Path) -> AsyncIterator[Steps]:
    """A database of SQLite without the table of the keys."""
    async with steps_on(_sqlite(tmp_path)) as made:
        yield made
