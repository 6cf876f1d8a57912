"""PostgreSQL: row locks wait a bounded time, and a later attempt ends the session of an earlier one that hangs. Pure.

Each effect holds an advisory lock of its key while its transaction lasts, so `pg_locks` tells which session it is in. Only a
session that holds it, and only for a claim that is no longer the newest, is ever ended. PostgreSQL lets a role do that to its
own sessions.
"""

from __future__ import annotations

from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING

from activities.idempotency.errors import EffectBusyError, EffectsTableError
from activities.idempotency.protocol import READ, superseded
from activities.idempotency.steps import Ask, Pause

if TYPE_CHECKING:
    from activities.idempotency.claim import Claim
    from activities.idempotency.steps import Steps

# https://www.postgresql.org/docs/current/errcodes-appendix.html
_IN_THE_WAY = frozenset({"55P03", "40P01"})  # lock_not_available, deadlock_detected
_CHANGED_MEANWHILE = "40001"  # serialization_failure
_UNDEFINED_TABLE, _INSUFFICIENT_PRIVILEGE = "42P01", "42501"

_LIMITS = "SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)"
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock($1)"
# A lock on one bigint shows as its high and low half, objsubid 1: https://www.postgresql.org/docs/current/view-pg-locks.html
_EVICT = """
SELECT pg_terminate_backend(held.pid) FROM pg_locks held JOIN tickwright_effects e ON e.key = $1 AND e.claim = $2
WHERE held.locktype = 'advisory' AND held.granted AND held.objsubid = 1 AND e.done_at IS NULL
AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND held.classid::bigint = $3 AND held.objid::bigint = $4 AND held.pid <> pg_backend_pid()
"""
_NO_TABLE = (
    "the database has no table tickwright_effects on this role's search_path; make it with"
    " `python -m activities.idempotency migrate --database URL`"
)
_HALF = 2**32
_STALLED_CLAIM = 5.0
"""Seconds after which the server itself ends a session that stands still between a claim and its commit."""
_PAUSE = 0.05
_RETRY_AFTER = 2.0


class Postgresql:
    """PostgreSQL's side of the protocol."""

    read_to_claim = f"{READ} FOR UPDATE"
    can_evict = True

    def prepare(self, patience: float) -> Steps[None]:
        """For this transaction alone."""
        yield Ask(_LIMITS, (_milliseconds(patience), _milliseconds(_STALLED_CLAIM)))

    def exclude(self, claim: Claim, number: int, patience: float) -> Steps[None]:
        """What holds the lock can no longer commit, since the claim has moved on: it is ended, with all its locks."""
        for _ in range(ceil(patience / _PAUSE) + 1):
            if (yield Ask(_TRY_LOCK, (lock_number(claim.key),)))[0]:
                return
            yield from self.evict(claim, number)
            yield Pause(_PAUSE)
        raise _busy(claim)

    def evict(self, claim: Claim, number: int) -> Steps[None]:
        """Whoever holds the lock of the key, as long as the claim with that number is the newest."""
        high, low = divmod(lock_number(claim.key) % _HALF**2, _HALF)
        yield Ask(_EVICT, (claim.key, number, high, low))

    def is_locked(self, error: Exception) -> bool:
        """By SQLSTATE."""
        return _code(error) in {*_IN_THE_WAY, _CHANGED_MEANWHILE}

    def failure(self, error: Exception, claim: Claim) -> Exception | None:
        """By SQLSTATE."""
        code = _code(error)
        if code == _UNDEFINED_TABLE:
            return EffectsTableError(_NO_TABLE, permanent=True)
        if code == _INSUFFICIENT_PRIVILEGE:
            return _busy(claim, "; its session belongs to another role, or this role may not use tickwright_effects")
        if code in _IN_THE_WAY:
            return _busy(claim)
        if code == _CHANGED_MEANWHILE:
            return superseded(claim, "a later attempt has begun")
        return None


def lock_number(key: str) -> int:
    """The advisory lock of a key: 64 bits, signed."""
    return int.from_bytes(sha256(f"tickwright {key}".encode()).digest()[:8], "big", signed=True)


def _busy(claim: Claim, more: str = "") -> EffectBusyError:
    return EffectBusyError(
        f"an earlier attempt at `{claim.key}` holds its locks and could not be ended{more}", retry_after=_RETRY_AFTER
    )


def _code(error: Exception) -> str | None:
    return getattr(error, "sqlstate", None)


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000)))
