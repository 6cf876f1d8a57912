"""The protocol by which an effect happens once.

1. The attempt claims the key in a short transaction of its own. The claim is durable: from then on no earlier attempt can
   commit, whether it hangs, sleeps or comes back. A key that is done gives its result, one that a later attempt has claimed
   refuses.
2. The effect runs in a second transaction. Its last statement stores the result under the number of the claim; where that
   number is no longer the newest, everything is rolled back.

Pure: it yields steps (see `steps`), so that one text serves sync and async drivers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from activities.errors import HandlerError
from activities.idempotency.claim import Claim, Stored
from activities.idempotency.errors import EffectBusyError, SupersededAttemptError
from activities.idempotency.steps import Ask, SessionEndedError, in_transaction
from activities.steps.output import MAX_OUTPUT, to_json

if TYPE_CHECKING:
    from activities.idempotency.steps import Dialect, Row, Steps

READ = (
    "SELECT run, attempt, begun_at, effect, claim, done_at IS NOT NULL, result FROM tickwright_effects WHERE key = $1"
)
_INSERT = (
    "INSERT INTO tickwright_effects (key, run, attempt, begun_at, effect, claim, claimed_at)"
    " VALUES ($1, $2, $3, $4, $5, 1, $6) ON CONFLICT (key) DO NOTHING RETURNING claim"
)
_UPDATE = (
    "UPDATE tickwright_effects SET run = $2, attempt = $3, begun_at = $4, effect = $5, claim = claim + 1,"
    " claimed_at = $6 WHERE key = $1 RETURNING claim"
)
_FINISH = (
    "UPDATE tickwright_effects SET result = $3, done_at = $4"
    " WHERE key = $1 AND claim = $2 AND done_at IS NULL RETURNING claim"
)
_ROUNDS = 3
_RETRY_AFTER = 1.0
Clock = Callable[[], datetime]
_T = TypeVar("_T")


def perform(dialect: Dialect, claim: Claim, now: Clock, patience: float) -> Steps[Any]:
    """The effect's result, of this attempt or of the earlier one that had it. Raises what the effect raises, and HandlerErrors."""
    try:
        taken = yield from _told(dialect, claim, _claimed(dialect, claim, now, patience))
        if isinstance(taken, Stored):
            return json.loads(taken.result or "null")
        text = yield from in_transaction(_effect(dialect, claim, taken, now, patience))
    except SessionEndedError as error:
        raise superseded(claim, "its database session has ended, by a later attempt or with the server") from error
    return json.loads(text)


def _claimed(dialect: Dialect, claim: Claim, now: Clock, patience: float) -> Steps[Stored | int]:
    """The number of this attempt's claim, or the row of an effect that is done."""
    for _ in range(_ROUNDS):
        seen: list[Stored] = []
        try:
            taken = yield from in_transaction(_take(dialect, claim, now, patience, seen))
        except Exception as error:
            if not (dialect.is_locked(error) and dialect.can_evict):
                raise
            yield from in_transaction(dialect.evict(claim, seen[0].number if seen else 0))
        else:
            if taken is not None:
                return taken
    raise EffectBusyError(f"`{claim.key}`: other attempts claim it at the same time", retry_after=_RETRY_AFTER)


def _take(
    dialect: Dialect, claim: Claim, now: Clock, patience: float, seen: list[Stored]
) -> Steps[Stored | int | None]:
    """None where another session has made or removed the row meanwhile. The row as it was first found goes into `seen`."""
    yield from dialect.prepare(patience)
    # Read without a lock first: a later attempt that is about to commit holds the row, and is not to be waited for.
    if row := (yield Ask(READ, (claim.key,))):
        seen.append(_stored(row))
        if _settled(seen[0], claim):
            return seen[0]
        if not (row := (yield Ask(dialect.read_to_claim, (claim.key,)))):
            return None
        if _settled(found := _stored(row), claim):
            return found
    who = (claim.key, claim.run, claim.attempt, claim.begun_at, claim.effect, now())
    taken = yield Ask(_UPDATE if seen else _INSERT, who)
    return taken[0] if taken else None


def _settled(found: Stored, claim: Claim) -> bool:
    """Whether the effect is done. Raises SupersededAttemptError where a later attempt has claimed it."""
    if found.done and found.is_of_same_attempt(claim) and found.effect != claim.effect:
        raise HandlerError(
            f"`{found.effect}` and `{claim.effect}` have the same key in one attempt, so the second would not happen;"
            ' give each a part of its own: once(…, part="…")',
            permanent=True,
        )
    if not found.done and found.is_later_than(claim):
        raise superseded(claim, f"attempt {found.attempt} has begun")
    return found.done


def _effect(dialect: Dialect, claim: Claim, number: int, now: Clock, patience: float) -> Steps[str]:
    yield from _told(dialect, claim, dialect.exclude(claim, number, patience))
    value = yield "effect"
    text = _text(claim, value)
    if (yield from _told(dialect, claim, _finish(claim, number, text, now()))) is None:
        raise superseded(claim, "a later attempt has begun")
    return text


def _finish(claim: Claim, number: int, text: str, now: datetime) -> Steps[Row | None]:
    kept: Row | None = yield Ask(_FINISH, (claim.key, number, text, now))
    return kept


def _told(dialect: Dialect, claim: Claim, steps: Steps[_T]) -> Steps[_T]:
    """The steps, with what a driver says about our own statements told in our words."""
    try:
        return (yield from steps)
    except Exception as error:
        known = dialect.failure(error, claim)
        if known is None:
            raise
        raise known from error


def superseded(claim: Claim, why: str) -> SupersededAttemptError:
    """The error of an attempt that must not commit."""
    return SupersededAttemptError(f"attempt {claim.attempt} at `{claim.key}` did not commit: {why}")


def _stored(row: Row) -> Stored:
    run, attempt, begun_at, effect, number, done, result = row
    when = begun_at if isinstance(begun_at, datetime) else datetime.fromisoformat(begun_at)
    return Stored(run, attempt, when, effect, number, bool(done), result)


def _text(claim: Claim, value: Any) -> str:
    """The result as it is stored. Raises a permanent HandlerError for what is no JSON or larger than MAX_OUTPUT."""
    try:
        text = json.dumps(to_json(value))
    except ValueError as error:
        raise HandlerError(f"the effect `{claim.effect}` returned {error}", permanent=True) from None
    if len(text) > MAX_OUTPUT:
        raise HandlerError(
            f"the effect `{claim.effect}` returned {len(text)} characters of JSON, at most {MAX_OUTPUT} are kept;"
            " return a count or a reference, and write the rest to a table",
            permanent=True,
        )
    return text
