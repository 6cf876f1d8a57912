"""A database for each test, reached by each driver in turn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from activities.idempotency import migrate
from activities.idempotency.database import connected
from tests.effects import POSTGRESQL, SQLITE, Driver, with_payments

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.postgres import PostgresServer


@pytest.fixture
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., str]:
    """Makes a database for a kind of driver, with the table of the keys or without it."""

    def make(kind: type[Driver], *, migrated: bool = True) -> str:
        if kind.postgresql:
            server: PostgresServer = request.getfixturevalue("postgres")
            return server.new_database(migrated=migrated)
        url = f"sqlite:///{tmp_path / 'effects.db'}"
        if migrated:
            with connected(url) as connection:
                migrate(connection)
        return url

    return make


@pytest.fixture(params=[*POSTGRESQL, *SQLITE], ids=lambda kind: kind.__name__)
def driver(request: pytest.FixtureRequest, new_database: Callable[..., str]) -> Driver:
    """Each driver, on a database with both tables."""
    return with_payments(request.param, new_database(request.param))


@pytest.fixture(params=POSTGRESQL, ids=lambda kind: kind.__name__)
def on_postgresql(request: pytest.FixtureRequest, new_database: Callable[..., str]) -> Driver:
    """Each driver of PostgreSQL."""
    return with_payments(request.param, new_database(request.param))


@pytest.fixture(params=SQLITE, ids=lambda kind: kind.__name__)
def on_sqlite(request: pytest.FixtureRequest, new_database: Callable[..., str]) -> Driver:
    """Each driver of SQLite."""
    return with_payments(request.param, new_database(request.param))
