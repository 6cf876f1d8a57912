"""One payment by each driver, so that each fact about `once` is told of all of them."""

from __future__ import annotations

import asyncio
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import aiosqlite
import asyncpg
import psycopg
from psycopg import IsolationLevel

from activities import JobContext
from activities.idempotency import once
from activities.idempotency.database import connected

PAY = "INSERT INTO payments (amount) VALUES (12)"
BEGUN = datetime(2027, 3, 1, 13, tzinfo=UTC)
KEY = "billing/production/payouts/2027-03-01T13:00:00Z/run"

Hook = Callable[[], object]


def attempt(number: int, *, run: str = "run-1", begun_after: float | None = None, key: str = KEY) -> JobContext:
    """The context of an attempt; it began a minute after the one before it."""
    begun_at = BEGUN + timedelta(seconds=60 * number if begun_after is None else begun_after)
    return JobContext("payouts", "run", run, number, BEGUN, key, begun_at=begun_at)


class Driver(ABC):
    """A way to connect, and the payment written in that driver's manner. `url` is a database with the table `payments`."""

    postgresql = True

    def __init__(self, url: str) -> None:
        self.url = url

    @abstractmethod
    def connection(self) -> Any:
        """An async context manager of a connection."""

    @abstractmethod
    async def once(self, connection: Any, key: JobContext | str, during: Hook, sql: str = PAY, **options: Any) -> Any:
        """Pays once; `during` is called in the effect, after its write, in a thread where it may wait."""

    async def pay(self, key: JobContext | str, during: Hook = lambda: {"payments": 1}, **options: Any) -> Any:
        """The same over a connection of its own."""
        async with self.connection() as connection:
            return await self.once(connection, key, during, **options)

    def rows(self, query: str = "SELECT amount FROM payments") -> list[tuple[Any, ...]]:
        """What the database has."""
        with connected(self.url) as connection:
            return [tuple(row) for row in connection.execute(query).fetchall()]

    @property
    def payments(self) -> int:
        return len(self.rows())


class Psycopg(Driver):
    options: ClassVar[dict[str, Any]] = {}
    isolation: IsolationLevel | None = None

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.Connection]:
        with closing(psycopg.connect(self.url, **self.options)) as connection:
            connection.isolation_level = self.isolation
            yield connection

    async def once(self, connection: Any, key: JobContext | str, during: Hook, sql: str = PAY, **options: Any) -> Any:
        def effect(given: psycopg.Connection) -> object:
            given.execute(sql.encode())
            return during()

        return await asyncio.to_thread(lambda: once(connection, key, effect, **options))


class PsycopgAutocommit(Psycopg):
    options: ClassVar[dict[str, Any]] = {"autocommit": True}


class PsycopgSerializable(Psycopg):
    isolation = IsolationLevel.SERIALIZABLE


class PsycopgAsync(Driver):
    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection]:
        connection = await psycopg.AsyncConnection.connect(self.url)
        try:
            yield connection
        finally:
            await connection.close()

    async def once(self, connection: Any, key: JobContext | str, during: Hook, sql: str = PAY, **options: Any) -> Any:
        async def effect(given: psycopg.AsyncConnection) -> object:
            await given.execute(sql.encode())
            return await asyncio.to_thread(during)

        return await once(connection, key, effect, **options)


class Asyncpg(Driver):
    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        connection = await asyncpg.connect(self.url)
        try:
            yield connection
        finally:
            await connection.close()

    async def once(self, connection: Any, key: JobContext | str, during: Hook, sql: str = PAY, **options: Any) -> Any:
        async def effect(given: Any) -> object:
            await given.execute(sql)
            return await asyncio.to_thread(during)

        return await once(connection, key, effect, **options)


class AsyncpgPool(Asyncpg):
    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        async with asyncpg.create_pool(self.url, min_size=1, max_size=1) as pool, pool.acquire() as connection:
            yield connection


class Sqlite(Driver):
    postgresql = False
    options: ClassVar[dict[str, Any]] = {}

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[sqlite3.Connection]:
        path = self.url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, timeout=0.2, check_same_thread=False, **self.options)) as connection:
            yield connection

    async def once(self, connection: Any, key: JobContext | str, during: Hook, sql: str = PAY, **options: Any) -> Any:
        def effect(given: sqlite3.Connection) -> object:
            given.execute(sql)
            return during()

        return await asyncio.to_thread(lambda: once(connection, key, effect, **options))


class SqliteAutocommit(Sqlite):
    options: ClassVar[dict[str, Any]] = {"isolation_level": None}


class Aiosqlite(Driver):
    postgresql = False

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[aiosqlite.Connection]:
        async with aiosqlite.connect(self.url.removeprefix("sqlite:///"), timeout=0.2) as connection:
            yield connection

    async def once(self, connection: Any, key: JobContext | str, during: Hook, sql: str = PAY, **options: Any) -> Any:
        async def effect(given: aiosqlite.Connection) -> object:
            await given.execute(sql)
            return await asyncio.to_thread(during)

        return await once(connection, key, effect, **options)


POSTGRESQL: list[type[Driver]] = [Psycopg, PsycopgAutocommit, PsycopgSerializable, PsycopgAsync, Asyncpg, AsyncpgPool]
SQLITE: list[type[Driver]] = [Sqlite, SqliteAutocommit, Aiosqlite]


def with_payments(kind: type[Driver], url: str) -> Driver:
    """The driver on a database that now has the table of the payments."""
    with connected(url) as connection:
        connection.execute("CREATE TABLE payments (amount integer)")
        connection.commit()
    return kind(url)
