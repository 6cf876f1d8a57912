"""`once`: an effect and its key, committed in one transaction."""

from __future__ import annotations

import asyncio
import inspect
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, overload

from activities.errors import HandlerError
from activities.idempotency.claim import claim_of
from activities.idempotency.drivers import async_session_of, known_connections, session_of
from activities.idempotency.protocol import perform
from activities.idempotency.steps import Ask, Pause, SessionEndedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from activities.context import JobContext
    from activities.idempotency.sessions import AsyncSession, Session
    from activities.idempotency.steps import Step, Steps

PATIENCE = 2.0
"""Seconds for which an attempt waits for what an earlier one holds before it does something about it."""
_C = TypeVar("_C")


@overload
def once(
    connection: _C,
    key: JobContext | str,
    effect: Callable[[_C], Awaitable[Any]],
    *,
    part: str = "",
    attempt: int = 1,
    patience: float = PATIENCE,
) -> Coroutine[Any, Any, Any]: ...
@overload
def once(
    connection: _C,
    key: JobContext | str,
    effect: Callable[[_C], Any],
    *,
    part: str = "",
    attempt: int = 1,
    patience: float = PATIENCE,
) -> Any: ...
def once(
    connection: Any,
    key: JobContext | str,
    effect: Callable[[Any], Any],
    *,
    part: str = "",
    attempt: int = 1,
    patience: float = PATIENCE,
) -> Any:
    """Call `effect(connection)` unless the key is done, and commit what it wrote with the key and its result; give the result.

    `key` is the handler's context, or a key of your own with its `attempt`; `part` tells several effects of one step apart.
    With an async connection `effect` is async, and so is the call: `await once(…)`. The result is JSON, also the first time.
    An exception of `effect` is raised, and nothing of it stays. The connection must not be in a transaction.

    Raises SupersededAttemptError where a later attempt has begun, EffectBusyError where an earlier one holds its locks for
    longer than `patience` seconds and cannot be ended, EffectsTableError without the table, HandlerError for a wrong use, and
    TypeError for a connection of an unknown kind.
    """
    claim = claim_of(key, part, attempt, effect)
    if session := session_of(connection):
        _refuse_transaction(session)
        return _run(session, perform(session.dialect, claim, _now, patience), lambda: effect(connection))
    if async_session := async_session_of(connection):
        _refuse_transaction(async_session)
        steps = perform(async_session.dialect, claim, _now, patience)
        return _run_async(async_session, steps, lambda: effect(connection))
    kind = f"{type(connection).__module__}.{type(connection).__qualname__}"
    raise TypeError(f"once() does not know connections of type {kind}; it knows {known_connections()}")


def _now() -> datetime:
    return datetime.now(UTC)


def _refuse_transaction(session: Session | AsyncSession) -> None:
    if session.in_transaction:
        raise HandlerError(
            "the connection is in a transaction already, and once() needs two of its own: commit or roll back before it,"
            " or do those statements in the effect (psycopg begins a transaction with the first statement, unless"
            " autocommit=True; sqlite3 with autocommit=False always has one)",
            permanent=True,
        )


def _run(session: Session, steps: Steps[Any], effect: Callable[[], Any]) -> Any:
    try:
        step = next(steps)
        while True:
            try:
                answer = _carry_out(session, step, effect)
            except BaseException as error:  # noqa: BLE001  the protocol rolls back for any, and raises it again
                step = steps.throw(_told(session, step, error))
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value


def _carry_out(session: Session, step: Step, effect: Callable[[], Any]) -> Any:
    match step:
        case Ask(sql, args):
            return session.ask(sql, args)
        case Pause(seconds):
            return time.sleep(seconds)
        case "begin":
            return session.begin()
        case "commit":
            return session.commit()
        case "rollback":
            with suppress(Exception):  # A session that has ended has rolled back, and why it ended is raised.
                session.rollback()
            return None
        case "effect":
            value = effect()
            if inspect.iscoroutine(value):
                value.close()
                raise HandlerError("the effect is async, but the connection is not", permanent=True)
            _refuse_commit(session)
            return value


async def _run_async(session: AsyncSession, steps: Steps[Any], effect: Callable[[], Any]) -> Any:
    try:
        step = next(steps)
        while True:
            try:
                answer = await _carry_out_async(session, step, effect)
            except BaseException as error:  # noqa: BLE001  as above
                step = steps.throw(_told(session, step, error))
            else:
                step = steps.send(answer)
    except StopIteration as end:
        return end.value


async def _carry_out_async(session: AsyncSession, step: Step, effect: Callable[[], Any]) -> Any:
    match step:
        case Ask(sql, args):
            return await session.ask(sql, args)
        case Pause(seconds):
            return await asyncio.sleep(seconds)
        case "begin":
            return await session.begin()
        case "commit":
            return await session.commit()
        case "rollback":
            with suppress(Exception):  # As above.
                await session.rollback()
            return None
        case "effect":
            value = effect()
            if not inspect.isawaitable(value):
                raise HandlerError("the connection is async, so the effect must be async too", permanent=True)
            value = await value
            _refuse_commit(session)
            return value


def _told(session: Session | AsyncSession, step: Step, error: BaseException) -> BaseException:
    """The error, or that the session has ended; not of a commit, of which nobody knows then whether it was carried out."""
    if step == "commit" or not isinstance(error, Exception) or not session.has_ended(error):
        return error
    ended = SessionEndedError()
    ended.__cause__ = error
    return ended


def _refuse_commit(session: Session | AsyncSession) -> None:
    if not session.in_transaction:
        raise HandlerError(
            "the effect has ended its transaction, so what it wrote is not tied to the key; leave commit to once()",
            permanent=True,
        )
