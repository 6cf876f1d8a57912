"""The call of a step's handler in one attempt: for stand-ins to answer, and for tests to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from activities.contract import LastSuccess
    from activities.steps.attempt import Attempt


@dataclass(frozen=True, kw_only=True)
class Call:
    """One attempt of a step.

    `params` are those of the spec with templates filled in. A stand-in finds secrets filled in, too; what is recorded for
    the test has them as they are written, `${secret:NAME}`. `scheduled_at` is aware, in the job's timezone.
    """

    scheduled_at: datetime
    step: str
    handler: str
    attempt: int
    params: dict[str, Any]
    idempotency_key: str
    last_success: LastSuccess | None

    @classmethod
    def of(cls, attempt: Attempt, handler: str, params: dict[str, Any]) -> Call:
        """What an attempt is about to hand to its handler."""
        return cls(
            scheduled_at=attempt.scheduled_at,
            step=attempt.call.step.name,
            handler=handler,
            attempt=attempt.number,
            params=params,
            idempotency_key=attempt.idempotency_key,
            last_success=attempt.call.last_success,
        )


def as_written(value: Any, attempt: Attempt) -> Any:
    """A JSON value of the step's parameters with templates filled in and secrets still as references."""
    if isinstance(value, str):
        return attempt.written(value)
    if isinstance(value, dict):
        return {key: as_written(item, attempt) for key, item in value.items()}
    return [as_written(item, attempt) for item in value] if isinstance(value, list) else value
