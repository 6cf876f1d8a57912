"""SQLite: one writer at a time, so an effect that hangs keeps the others out, and they are told to come again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.idempotency.errors import EffectBusyError, EffectsTableError
from activities.idempotency.protocol import READ
from activities.idempotency.steps import Ask

if TYPE_CHECKING:
    from activities.idempotency.claim import Claim
    from activities.idempotency.steps import Steps

# https://www.sqlite.org/rescode.html; the low byte of an extended code is the primary one
_BUSY, _LOCKED, _PRIMARY = 5, 6, 0xFF
_TABLE = "SELECT count(*) FROM pragma_table_info('tickwright_effects')"
_RETRY_AFTER = 2.0


class Sqlite:
    """SQLite's side of the protocol. Transactions begin as IMMEDIATE: whoever is in one is the only writer."""

    read_to_claim = READ
    can_evict = False

    def prepare(self, patience: float) -> Steps[None]:
        """The connection's own timeout bounds the wait. Raises EffectsTableError: SQLite has no error code for that."""
        if not (yield Ask(_TABLE))[0]:
            raise EffectsTableError(
                "the database has no table tickwright_effects; make it with"
                " `python -m activities.idempotency migrate --database sqlite:///FILE`",
                permanent=True,
            )

    def exclude(self, claim: Claim, number: int, patience: float) -> Steps[None]:
        """The transaction is the lock."""
        yield from ()

    def evict(self, claim: Claim, number: int) -> Steps[None]:
        """Nobody can end another process' transaction."""
        yield from ()

    def is_locked(self, error: Exception) -> bool:
        """By result code."""
        code = getattr(error, "sqlite_errorcode", None)
        return code is not None and code & _PRIMARY in {_BUSY, _LOCKED}

    def failure(self, error: Exception, claim: Claim) -> Exception | None:
        """By result code."""
        if not self.is_locked(error):
            return None
        return EffectBusyError(f"`{claim.key}`: another session writes to the database", retry_after=_RETRY_AFTER)
