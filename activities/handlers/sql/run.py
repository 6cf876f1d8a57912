"""A step's statements: in one transaction with the key, or by themselves where they only read or `autocommit` says so."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

import structlog
from pydantic import BaseModel, ConfigDict, Field

from activities.databases import POSTGRESQL, SQLITE
from activities.errors import HandlerError
from activities.handlers.python import context_of
from activities.handlers.sql.rows import output_of
from activities.idempotency.errors import EffectsTableError
from activities.idempotency.perform import once
from activities.steps.params import parse_params
from activities.steps.sql_text import statements

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from activities.handlers.sql.rows import Rows
    from activities.handlers.table import Parts
    from activities.steps.attempt import Attempt
    from activities.steps.sql_text import Statement

_log: structlog.stdlib.BoundLogger = structlog.get_logger()
_NO_DRIVER = "the driver for this database is not installed on this worker ({0}); install `tickwright[sql]`"


class SqlParams(BaseModel):
    """A script, the values of its parameters by name, and the address of the database."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    connection: str
    statement: str
    file: str = ""
    """Where the script was read from, for messages."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    autocommit: bool = False


class Database(Protocol):
    """A connection of one step to its database."""

    connection: Any
    """The driver's, as `once` takes it; outside of `once` and `reading` each statement is a transaction of its own."""

    async def execute(self, statement: Statement, values: list[Any]) -> Rows:
        """Cancelled, it ends the statement in the database, too. Raises the driver's errors."""

    async def limit(self, seconds: float, *, local: bool) -> None:
        """Let the server itself end a statement then, and soon after its client has gone; `local`: in this transaction alone."""

    def reading(self) -> AbstractAsyncContextManager[None]:
        """A transaction that cannot write."""

    async def make_table(self) -> None:
        """Make the table of the keys. Raises the driver's errors."""

    def refused_to_write(self, error: Exception) -> bool:
        """Whether the error says that a statement wants to write in `reading`."""

    def failure(self, error: Exception, where: str) -> HandlerError | None:
        """A driver's error in words, with its verdict; None for any other."""


class SqlHandler:
    """Runs statements over a connection that is opened for the step."""

    def __init__(self, parts: Parts) -> None:
        del parts

    def problem(self, params: dict[str, Any]) -> str:
        """See Handler; the address is mostly a secret, and `trial` has its value."""
        del params
        return ""

    async def trial(self, params: dict[str, Any]) -> str:
        """See Trying: whether the database can be reached."""
        try:
            async with connected(params["connection"], "tickwright preflight", lambda _password: None) as database:
                await database.execute(statements("SELECT 1")[0], [])
        except HandlerError as error:
            return error.message
        return ""

    async def run(self, params: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        """`{"row_count": …, "rows": [{…}, …]}`, see `output_of`. Raises HandlerError.

        Cancelled, it ends the statement in the database, and nothing of the transaction stays.
        """
        request = parse_params(SqlParams, params)
        script = Script(request, attempt)
        name = f"tickwright {attempt.call.job}/{attempt.call.step.name}"
        async with connected(request.connection, name, attempt.redactor.add) as database:
            try:
                return await script.run(database)
            except HandlerError:
                raise
            except Exception as error:
                if (failure := database.failure(error, "")) is None:
                    raise
        raise failure


class Script:
    """The statements of one attempt."""

    def __init__(self, request: SqlParams, attempt: Attempt) -> None:
        self._statements = statements(request.statement)
        self._values, self._autocommit = request.parameters, request.autocommit
        self._file = request.file
        self._attempt = attempt
        if not self._statements:
            raise HandlerError("there is no SQL statement to run", permanent=True)
        names = (name for statement in self._statements for name in statement.parameters)
        if lacking := next((name for name in names if name not in self._values), None):
            raise HandlerError(f"the parameter `:{lacking}` has no value; add it to `parameters`", permanent=True)

    async def run(self, database: Database) -> dict[str, Any]:
        """The output. What only reads needs no key; where the database finds that it writes, it is done with one."""
        if self._autocommit:
            return await self._all(database, local=False)
        if all(statement.looks_like_query for statement in self._statements):
            try:
                async with database.reading():
                    return await self._all(database)
            except Exception as error:
                if not database.refused_to_write(error):
                    raise
        return await self._once(database)

    async def _once(self, database: Database) -> dict[str, Any]:
        ran = False

        async def effect(_connection: Any) -> dict[str, Any]:
            nonlocal ran
            ran = True
            return await self._all(database)

        try:
            output: dict[str, Any] = await once(database.connection, context_of(self._attempt), effect)
        except EffectsTableError as error:
            await self._make_table(database, error)
            output = await once(database.connection, context_of(self._attempt), effect)
        if not ran:
            _log.info("done by an earlier attempt, whose output this is")
        return output

    async def _make_table(self, database: Database, lacking: EffectsTableError) -> None:
        try:
            await database.make_table()
        except Exception as error:
            if (refused := database.failure(error, "")) is None:
                raise
            message = f"{lacking.message}; this step could not make it itself: {refused.message}"
            raise EffectsTableError(message, permanent=refused.permanent) from error

    async def _all(self, database: Database, *, local: bool = True) -> dict[str, Any]:
        await database.limit(self._attempt.call.step.timeout, local=local)
        return output_of([await self._one(database, number) for number in range(len(self._statements))])

    async def _one(self, database: Database, number: int) -> Rows:
        statement, began = self._statements[number], monotonic()
        values = [self._values[name] for name in statement.parameters]
        try:
            rows = await database.execute(statement, values)
        except Exception as error:
            # Of a write that is refused `run` hears, and of a session that has ended `once`.
            if database.refused_to_write(error) or (failure := database.failure(error, self._where(number))) is None:
                raise
            raise failure from error
        _log.info("statement done", statement=statement.title, rows=rows.count, seconds=round(monotonic() - began, 3))
        return rows

    def _where(self, number: int) -> str:
        """Which statement of the script; empty where there is one alone."""
        count, statement = len(self._statements), self._statements[number]
        place = f"{self._file}, line {statement.line}" if self._file else f"line {statement.line}"
        return "" if count == 1 else f"statement {number + 1} of {count} ({place}: `{statement.title}`): "


def connected(address: str, name: str, mask: Callable[[str], None]) -> AbstractAsyncContextManager[Database]:
    """A connection by address; its driver is loaded now. Raises HandlerError where it cannot be had.

    The server shows `name` for it; `mask` is told the password.
    """
    try:
        if address.startswith(POSTGRESQL):
            from activities.handlers.sql.postgresql import connected as to_postgresql

            return to_postgresql(address, name, mask)
        if address.startswith(SQLITE):
            from activities.handlers.sql.sqlite import connected as to_sqlite

            return to_sqlite(address.removeprefix(SQLITE))
    except ImportError as error:
        raise HandlerError(_NO_DRIVER.format(error), permanent=True) from None
    raise HandlerError("the database's address begins with neither postgresql:// nor sqlite:///", permanent=True)
