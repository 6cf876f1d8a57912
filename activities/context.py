"""The context of a `python` handler: the facts of its occurrence, and its way to report back."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

from activities.occurrence import stamp

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import structlog


@dataclass(frozen=True)
class LastSuccess:
    """The newest occurrence that had succeeded: its scheduled time, aware and in the job's timezone, and outputs by step.

    A value with a secret in it was not stored: None stands in its place.
    """

    scheduled_at: datetime
    outputs: dict[str, Any]


@dataclass(frozen=True)
class JobContext:
    """Facts of one attempt; times are aware and in the job's timezone. Everything here may be used from any thread."""

    job: str
    step: str
    run_id: str
    attempt: int
    scheduled_at: datetime
    idempotency_key: str
    last_heartbeat: Any = None
    """Details of the last heartbeat of this step, also one of an earlier attempt; None before the first.
    A value with a secret in it was not stored: None stands in its place."""
    last_success: LastSuccess | None = None
    """Of this job, before this occurrence; None when there was none, and always where runs go on side by side (`allow_all`)."""
    cancelled: Event = field(default_factory=Event)
    """Set when the attempt is to end: cancelled, out of time, worker stopping. A function in a thread looks at it."""
    send_heartbeat: Callable[[Any], None] = field(default=lambda _details: None, repr=False)
    find_interval_start: Callable[[], datetime | None] = field(default=lambda: None, repr=False)
    begun_at: datetime | None = None
    """When the server scheduled this attempt: later for each attempt, also where a reset or a drain counts anew."""

    @property
    def interval_start(self) -> datetime | None:
        """The job's scheduled time before this one; None when it has none."""
        return self.find_interval_start()

    @property
    def interval_end(self) -> datetime:
        """The end of the interval that this occurrence stands for: its scheduled time."""
        return self.scheduled_at

    def heartbeat(self, details: Any) -> None:
        """Store progress (a JSON value) for `last_heartbeat` of a later attempt; liveness is reported without it.

        Raises ValueError when `details` are not JSON or too large.
        """
        self.send_heartbeat(details)

    @property
    def logger(self) -> structlog.stdlib.BoundLogger:
        """A logger with the run's fields on every line."""
        import structlog

        logger: structlog.stdlib.BoundLogger = structlog.get_logger().bind(
            job=self.job,
            scheduled_time=stamp(self.scheduled_at),
            run_id=self.run_id,
            step=self.step,
            attempt=self.attempt,
        )
        return logger
