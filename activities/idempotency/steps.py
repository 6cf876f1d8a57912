"""The words in which the protocol speaks to a connection, sync or async: it yields a step and is sent the answer. Pure."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from activities.idempotency.claim import Claim

Row: TypeAlias = tuple[Any, ...]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Ask:
    """A statement with `$1`-style parameters; the answer is its first row, or None."""

    sql: str
    args: Row = ()


@dataclass(frozen=True)
class Pause:
    """Wait that many seconds."""

    seconds: float


Step: TypeAlias = Ask | Pause | Literal["begin", "commit", "rollback", "effect"]
Steps: TypeAlias = Generator[Step, Any, _T]


class SessionEndedError(Exception):
    """What the protocol is told in place of a driver's error when the session has ended under a step."""


class Dialect(Protocol):
    """What the databases do differently."""

    read_to_claim: str
    """The statement that reads the row of a key and keeps others from changing it."""
    can_evict: bool
    """Whether one session can end another."""

    def prepare(self, patience: float) -> Steps[None]:
        """First steps of a claim: a wait for another session ends after `patience` seconds."""

    def exclude(self, claim: Claim, number: int, patience: float) -> Steps[None]:
        """First steps of an effect: no other effect of the key goes on. Raises EffectBusyError."""

    def evict(self, claim: Claim, number: int) -> Steps[None]:
        """End the session that is in an effect of the key, if the key's newest claim has that number."""

    def is_locked(self, error: Exception) -> bool:
        """Whether another session was in the way, or has changed the row meanwhile."""

    def failure(self, error: Exception, claim: Claim) -> Exception | None:
        """A driver's error about a statement of ours, in our words; None where there is nothing to add."""


def in_transaction(steps: Steps[_T]) -> Steps[_T]:
    """The steps in a transaction of their own."""
    try:
        yield "begin"
        answer = yield from steps
    except BaseException:
        yield "rollback"
        raise
    yield "commit"
    return answer
