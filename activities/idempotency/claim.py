"""The claim that an attempt writes into the database before its effect, and the order of two attempts. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from activities.context import JobContext
from activities.errors import HandlerError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_KEY = 255
"""Characters of a stored key, its part included; the table checks it too."""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Claim:
    """One attempt at an effect. `begun_at` is when the server scheduled it; `effect` names the function, for people."""

    key: str
    run: str
    attempt: int
    begun_at: datetime
    effect: str


@dataclass(frozen=True)
class Stored:
    """The row of a key: who claimed it last, and the result (JSON text) once the effect is done.

    `number` counts the claims: the one with the newest number alone may commit.
    """

    run: str
    attempt: int
    begun_at: datetime
    effect: str
    number: int
    done: bool
    result: str | None

    def is_later_than(self, claim: Claim) -> bool:
        """Within a run attempts are counted; a reset begins another run and a drain repeats a number: there the time tells."""
        if self.run == claim.run and self.attempt != claim.attempt:
            return self.attempt > claim.attempt
        return self.begun_at > claim.begun_at

    def is_of_same_attempt(self, claim: Claim) -> bool:
        """Whether this very attempt of a job wrote it, not one with a key of the caller's own."""
        return claim.run != "" and (self.run, self.attempt, self.begun_at) == (claim.run, claim.attempt, claim.begun_at)


def claim_of(key: JobContext | str, part: str, attempt: int, effect: Callable[..., Any]) -> Claim:
    """The claim of a context's attempt, or of a key and attempt given by themselves. Raises a permanent HandlerError."""
    name = f"{getattr(effect, '__module__', '')}.{getattr(effect, '__qualname__', type(effect).__qualname__)}"
    if isinstance(key, JobContext):
        begun_at = key.begun_at or _LONG_AGO
        claim = Claim(key.idempotency_key, key.run_id, key.attempt, begun_at, name)
    else:
        claim = Claim(key, "", attempt, _LONG_AGO, name)
    whole = f"{claim.key}#{part}" if part else claim.key
    if not 0 < len(whole) <= MAX_KEY:
        raise HandlerError(
            f"the key `{whole[:40]}…` has {len(whole)} characters with its part; write 1 to {MAX_KEY}", permanent=True
        )
    return Claim(whole, claim.run, claim.attempt, claim.begun_at, claim.effect)
