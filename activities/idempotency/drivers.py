"""Connections of the known drivers, as the protocol needs them. No driver is imported but by who has a connection of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from activities.idempotency.postgresql import Postgresql
from activities.idempotency.sqlite import Sqlite

if TYPE_CHECKING:
    from activities.idempotency.sessions import AsyncSession, Session
    from activities.idempotency.steps import Dialect, Row

_S = TypeVar("_S")


class PsycopgSession:
    """psycopg 3, sync; its transaction blocks refuse a commit() of the effect's own."""

    dialect: Dialect = Postgresql()

    def __init__(self, connection: Any) -> None:
        from psycopg import RawCursor
        from psycopg.rows import tuple_row

        self._connection = connection
        self._cursor = RawCursor(connection, row_factory=tuple_row)

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.info.transaction_status.name != "IDLE")

    def has_ended(self, error: Exception) -> bool:
        from psycopg import Error

        return isinstance(error, Error) and bool(self._connection.closed)

    def begin(self) -> None:
        self._transaction = self._connection.transaction()
        self._transaction.__enter__()

    def commit(self) -> None:
        self._transaction.__exit__(None, None, None)

    def rollback(self) -> None:
        error = RuntimeError()
        self._transaction.__exit__(RuntimeError, error, None)

    def ask(self, sql: str, args: Row) -> Row | None:
        return self._cursor.execute(sql.encode(), args).fetchone()


class AsyncPsycopgSession:
    """psycopg 3, async."""

    dialect: Dialect = Postgresql()

    def __init__(self, connection: Any) -> None:
        from psycopg import AsyncRawCursor
        from psycopg.rows import tuple_row

        self._connection = connection
        self._cursor = AsyncRawCursor(connection, row_factory=tuple_row)

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.info.transaction_status.name != "IDLE")

    def has_ended(self, error: Exception) -> bool:
        from psycopg import Error

        return isinstance(error, Error) and bool(self._connection.closed)

    async def begin(self) -> None:
        self._transaction = self._connection.transaction()
        await self._transaction.__aenter__()

    async def commit(self) -> None:
        await self._transaction.__aexit__(None, None, None)

    async def rollback(self) -> None:
        error = RuntimeError()
        await self._transaction.__aexit__(RuntimeError, error, None)

    async def ask(self, sql: str, args: Row) -> Row | None:
        return await (await self._cursor.execute(sql.encode(), args)).fetchone()


class AsyncpgSession:
    """asyncpg, also a connection of its pool."""

    dialect: Dialect = Postgresql()

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.is_in_transaction())

    def has_ended(self, error: Exception) -> bool:
        from asyncpg import InterfaceError, InternalClientError, PostgresError

        if isinstance(error, InternalClientError):  # The server's last message came between two requests.
            return True
        if not isinstance(error, InterfaceError | PostgresError):
            return False
        try:
            return bool(self._connection.is_closed())
        except InterfaceError:  # A pool has taken it back, as it does with one that has ended.
            return True

    async def begin(self) -> None:
        self._transaction = self._connection.transaction()
        await self._transaction.start()

    async def commit(self) -> None:
        await self._transaction.commit()

    async def rollback(self) -> None:
        try:
            await self._transaction.rollback()
        except Exception:
            self._connection.terminate()  # Else its pool would try to use it again, and raise an error of its own.
            raise

    async def ask(self, sql: str, args: Row) -> Row | None:
        row = await self._connection.fetchrow(sql, *args)
        return None if row is None else tuple(row)


class SqliteSession:
    """The standard library's sqlite3, with its implicit transactions or without them."""

    dialect: Dialect = Sqlite()

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._cursor.row_factory = None

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.in_transaction)

    def has_ended(self, error: Exception) -> bool:
        return False

    def begin(self) -> None:
        self._cursor.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._cursor.execute("COMMIT")

    def rollback(self) -> None:
        self._cursor.execute("ROLLBACK")

    def ask(self, sql: str, args: Row) -> Row | None:
        rows = self._cursor.execute(sql.replace("$", "?"), [_plain(value) for value in args]).fetchall()
        return _texts(rows[0]) if rows else None


class AiosqliteSession:
    """aiosqlite: sqlite3 in a thread of its own."""

    dialect: Dialect = Sqlite()

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.in_transaction)

    def has_ended(self, error: Exception) -> bool:
        return False

    async def begin(self) -> None:
        await self._connection.execute("BEGIN IMMEDIATE")

    async def commit(self) -> None:
        await self._connection.execute("COMMIT")

    async def rollback(self) -> None:
        await self._connection.execute("ROLLBACK")

    async def ask(self, sql: str, args: Row) -> Row | None:
        async with self._connection.cursor() as cursor:
            cursor.row_factory = None
            await cursor.execute(sql.replace("$", "?"), [_plain(value) for value in args])
            rows = await cursor.fetchall()
        return _texts(rows[0]) if rows else None


_SESSIONS: dict[str, Callable[[Any], Session]] = {
    "psycopg.Connection": PsycopgSession,
    "sqlite3.Connection": SqliteSession,
}
_ASYNC_SESSIONS: dict[str, Callable[[Any], AsyncSession]] = {
    "psycopg.AsyncConnection": AsyncPsycopgSession,
    "asyncpg.Connection": AsyncpgSession,
    "asyncpg.PoolConnectionProxy": AsyncpgSession,
    "aiosqlite.Connection": AiosqliteSession,
}


def session_of(connection: Any) -> Session | None:
    """How a sync connection is spoken to; None when it is none of a known driver."""
    made = _class(_SESSIONS, connection)
    return None if made is None else made(connection)


def async_session_of(connection: Any) -> AsyncSession | None:
    """How an async connection is spoken to; None when it is none of a known driver."""
    made = _class(_ASYNC_SESSIONS, connection)
    return None if made is None else made(connection)


def known_connections() -> str:
    """For messages."""
    return ", ".join([*_SESSIONS, *_ASYNC_SESSIONS])


def _class(sessions: dict[str, Callable[[Any], _S]], connection: Any) -> Callable[[Any], _S] | None:
    classes = (f"{one.__module__.partition('.')[0]}.{one.__name__}" for one in type(connection).__mro__)
    return next((sessions[name] for name in classes if name in sessions), None)


def _plain(value: Any) -> Any:
    """Times as text of one width, so that SQLite orders them as times."""
    return value.astimezone(UTC).isoformat(timespec="microseconds") if isinstance(value, datetime) else value


def _texts(row: Row) -> Row:
    """Texts as texts, whatever the connection's `text_factory` makes of them."""
    return tuple(value.decode() if isinstance(value, bytes) else value for value in row)
