"""PostgreSQL for `sql` steps, by psycopg 3."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import psycopg
import structlog
from psycopg import AsyncRawCursor
from psycopg.rows import tuple_row
from psycopg.types import datetime as times
from psycopg.types.json import Jsonb

from activities.errors import HandlerError
from activities.handlers.sql.rows import MOST_ROWS, Rows, names_of_columns
from activities.idempotency.migrations import migration

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from psycopg.abc import Buffer

    from activities.steps.sql_text import Statement

_log: structlog.stdlib.BoundLogger = structlog.get_logger()
CONNECT_SECONDS = 10
GONE_SECONDS = 2
"""After which the server looks whether the worker is still there, while a statement runs (PostgreSQL 14 and later)."""
# https://www.postgresql.org/docs/current/errcodes-appendix.html
_PERMANENT = frozenset({"0A", "21", "22", "25001", "26", "34", "3F", "42"})
"""The statement or its values are wrong: feature not supported, cardinality, data, transaction, names, syntax and access."""
_OF_VALUES = (psycopg.ProgrammingError, psycopg.DataError, psycopg.NotSupportedError)
"""Of the driver itself: values that it cannot hand over."""
_READ_ONLY = "25006"
_ADVICE = {
    "25001": "give the step `autocommit: true`",
    "42P02": "write a parameter as `:name`, and its value into `parameters`",
    "42P18": "say its type: `:name::text`",
    "57014": "it ran longer than the server or `timeout` allows, or somebody cancelled it",
}
_LIMITS = """
SELECT set_config(wanted.name, wanted.value, $3) FROM (VALUES
('statement_timeout', $1), ('idle_in_transaction_session_timeout', $1), ('client_connection_check_interval', $2)
) AS wanted (name, value) WHERE wanted.name IN (SELECT name FROM pg_settings)
"""


def _or_text(loader: type[Any]) -> type[Any]:
    """Loads as `loader` does, and times that Python does not have, such as infinity, as text."""

    class Loader(loader):  # type: ignore[misc]
        def load(self, data: Buffer) -> Any:
            try:
                return super().load(data)
            except psycopg.DataError:
                return bytes(data).decode()

    return Loader


_TIMES = {
    "date": _or_text(times.DateLoader),
    "timestamp": _or_text(times.TimestampLoader),
    "timestamptz": _or_text(times.TimestamptzLoader),
    "interval": _or_text(times.IntervalLoader),
    "time": _or_text(times.TimeLoader),
}


class Postgresql:
    """One connection; see Database."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self.connection = connection
        for name, loader in _TIMES.items():
            connection.adapters.register_loader(name, loader)
        connection.add_notice_handler(
            lambda notice: _log.info(notice.message_primary or "", severity=notice.severity_nonlocalized)
        )

    async def execute(self, statement: Statement, values: list[Any]) -> Rows:
        """A query is read row by row, so that a large one takes no memory."""
        text = statement.with_places("$").encode()
        given = [Jsonb(value) if _is_json(value) else value for value in values] or None
        rows = Rows()
        async with AsyncRawCursor(self.connection, row_factory=tuple_row) as cursor:
            if statement.looks_like_query:
                async for row in cursor.stream(text, given):
                    rows.add(_columns(cursor), row)
                rows.count = rows.given
                return rows
            await cursor.execute(text, given)
            rows.count = max(cursor.rowcount, 0)
            if cursor.description is not None:
                for row in await cursor.fetchmany(MOST_ROWS):
                    rows.add(_columns(cursor), row)
                rows.given = rows.count
        return rows

    async def limit(self, seconds: float, *, local: bool) -> None:
        """By the server's own settings."""
        given = (str(max(1, round(seconds * 1000))), f"{GONE_SECONDS}s", local)
        await AsyncRawCursor(self.connection).execute(_LIMITS.encode(), given)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """The server refuses what would write."""
        async with self.connection.transaction():
            await self.connection.execute("SET TRANSACTION READ ONLY")
            yield

    async def make_table(self) -> None:
        """In a transaction of its own, since the connection is in none."""
        await self.connection.execute(migration("postgresql").encode())

    def refused_to_write(self, error: Exception) -> bool:
        """By SQLSTATE."""
        return isinstance(error, psycopg.Error) and error.sqlstate == _READ_ONLY

    def failure(self, error: Exception, where: str) -> HandlerError | None:
        """By SQLSTATE; what has none is of the driver itself."""
        if not isinstance(error, psycopg.Error):
            return None
        code = error.sqlstate or ""
        said = error.diag.message_primary or str(error).partition("\n")[0] or type(error).__name__
        known = {"detail": error.diag.message_detail, "hint": error.diag.message_hint, "context": error.diag.context}
        details = {name: text for name, text in known.items() if text}
        advice = f"; {_ADVICE[code]}" if code in _ADVICE else ""
        name = type(error).__name__
        return HandlerError(
            f"{where}{said} ({f'{name}, {code}' if code else name}){advice}",
            permanent=not _PERMANENT.isdisjoint({code, code[:2]}) if code else isinstance(error, _OF_VALUES),
            details={"sqlstate": code, **details} if code else details,
            kind=name,
        )


def _is_json(value: Any) -> bool:
    """Mappings, and lists of them; other lists are arrays."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_is_json, value)))


def _columns(cursor: AsyncRawCursor[Any]) -> list[str]:
    return names_of_columns(column.name for column in cursor.description or ())


@asynccontextmanager
async def connected(address: str, name: str, mask: Callable[[str], None]) -> AsyncIterator[Postgresql]:
    """A connection that is closed with the block. Raises HandlerError."""
    mask(_password(address))
    try:
        connection = await psycopg.AsyncConnection.connect(
            address,
            autocommit=True,
            prepare_threshold=None,  # Poolers hand a session from one to the next.
            connect_timeout=CONNECT_SECONDS,
            fallback_application_name=name,
        )
    except psycopg.Error as error:
        failure = _unreachable(error)
    else:
        try:
            yield Postgresql(connection)
        finally:
            await connection.close()
        return
    raise failure


def _unreachable(error: psycopg.Error) -> HandlerError:
    if isinstance(error, psycopg.ProgrammingError):  # Its text may have a part of the password.
        return HandlerError(
            "the address of the database cannot be read; write postgresql://USER:PASSWORD@HOST/DATABASE", permanent=True
        )
    said = " ".join(str(error).split())
    return HandlerError(f"the database cannot be reached: {said}", kind=type(error).__name__)


def _password(address: str) -> str:
    """The one in the address: masked by itself, too, and not only as a part of the whole."""
    try:
        return unquote(urlsplit(address).password or "")
    except ValueError:
        return ""
