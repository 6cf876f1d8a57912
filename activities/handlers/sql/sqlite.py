"""SQLite for `sql` steps, by aiosqlite."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import aiosqlite

from activities.errors import HandlerError
from activities.handlers.sql.rows import Rows, names_of_columns
from activities.idempotency.migrations import migration
from activities.idempotency.perform import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from activities.steps.sql_text import Statement

_AT_ONCE = 1000
"""Rows that are read together."""
# https://www.sqlite.org/rescode.html; the low byte of an extended code is the primary one
_PRIMARY = 0xFF
_BUSY, _LOCKED, _READ_ONLY = 5, 6, 8
_MENDABLE = frozenset({_BUSY, _LOCKED, 7, 9, 10, 13, 14, 15, 17, 19})
"""Memory, interruption, disk, full, cannot open, protocol, schema and constraint: another attempt may succeed."""


class Sqlite:
    """One connection; see Database."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self.connection = connection

    async def execute(self, statement: Statement, values: list[Any]) -> Rows:
        """In the connection's thread, which is interrupted where the step is cancelled."""
        rows = Rows()
        try:
            async with self.connection.execute(statement.with_places("?"), [_plain(one) for one in values]) as cursor:
                columns = names_of_columns(column[0] for column in cursor.description or ())
                while many := list(await cursor.fetchmany(_AT_ONCE)):
                    for row in many:
                        rows.add(columns, row)
                rows.count = rows.given if cursor.rowcount < 0 else cursor.rowcount
        except asyncio.CancelledError:
            await self.connection.interrupt()
            raise
        return rows

    async def limit(self, seconds: float, *, local: bool) -> None:
        """A statement ends with its worker anyway."""

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """SQLite refuses what would write."""
        await self.connection.execute("PRAGMA query_only = 1")
        await self.connection.execute("BEGIN")
        try:
            yield
        finally:
            await self.connection.execute("ROLLBACK")
            await self.connection.execute("PRAGMA query_only = 0")

    async def make_table(self) -> None:
        """In a transaction of its own, since the connection is in none."""
        await self.connection.executescript(migration("sqlite"))

    def refused_to_write(self, error: Exception) -> bool:
        """By result code."""
        return _code(error) == _READ_ONLY

    def failure(self, error: Exception, where: str) -> HandlerError | None:
        """By result code."""
        if not isinstance(error, sqlite3.Error | OverflowError):
            return None
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        return HandlerError(f"{where}{error} ({name})", permanent=_code(error) not in _MENDABLE, kind=name)


@asynccontextmanager
async def connected(path: str) -> AsyncIterator[Sqlite]:
    """A connection that is closed with the block. Raises HandlerError; a file that is not there is not made."""
    uri = f"file:{quote(path)}?mode=rw"
    try:
        connection = await aiosqlite.connect(uri, uri=True, isolation_level=None, timeout=PATIENCE)
    except sqlite3.Error as error:
        failure = HandlerError(
            f"the database `{path}` cannot be opened: {error}; a file that is not there is not made",
            kind=type(error).__name__,
        )
    else:
        try:
            yield Sqlite(connection)
        finally:
            await connection.close()
        return
    raise failure


def _code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY


def _plain(value: Any) -> Any:
    """Lists and mappings as JSON text, for `json_each` and its like."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
