"""The ending of an attempt, and the failure that Temporal gets of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from temporalio.exceptions import ApplicationError

from activities.contract import HANDLER_FAILED, HANDLER_TIMEOUT, NOT_OFFERED, WORKER_SHUTDOWN
from activities.steps.altered import Alterations
from activities.steps.output import MAX_MESSAGE, bound_output, cut_end, to_json
from activities.steps.readable import readable, readable_text
from activities.steps.retry import retry_delay

if TYPE_CHECKING:
    from activities.contract import Altered
    from activities.errors import HandlerError
    from activities.observe import AttemptOutcome
    from activities.steps.attempt import Attempt

MAX_DETAILS = 32 * 1024
_TYPES = {
    "failed": HANDLER_FAILED,
    "timed_out": HANDLER_TIMEOUT,
    "worker_shutdown": WORKER_SHUTDOWN,
    "given_back": NOT_OFFERED,
}
_GO_ON_ELSEWHERE = {"worker_shutdown", "given_back"}
"""No verdicts on the job: the run starts the attempt anew in another worker."""
_AT_ONCE = 0.001
"""Seconds; the SDK takes a delay of 0 for none given."""


@dataclass(frozen=True, slots=True)
class Ending:
    """`output` of a success; `message`, verdict and `details` of anything else."""

    outcome: AttemptOutcome
    output: Any = None
    message: str = ""
    permanent: bool = False
    retry_after: float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    last_heartbeat: list[Any] = field(default_factory=list)
    """Of an attempt that goes on elsewhere: what the next one is told."""
    kind: str = ""
    """What a failure is counted by."""
    altered: list[Altered] = field(default_factory=list)
    """Places in `output` that are not as the handler gave them back."""
    log: str = ""
    """The lines that the attempt has logged."""

    @classmethod
    def of_error(cls, error: HandlerError) -> Ending:
        """The ending by a failure that a handler has judged itself."""
        return cls("failed", None, error.message, error.permanent, error.retry_after, error.details, kind=error.kind)

    def with_log(self, attempt: Attempt) -> Ending:
        """With what the attempt has logged, which a failure has among its details."""
        log = attempt.log.text(attempt.redactor)
        details = self.details if self.outcome == "succeeded" or not log else {**self.details, "log": log}
        return replace(self, log=log, details=details)

    def redacted(self, attempt: Attempt) -> Ending:
        """Without secrets, readable for every JSON parser, and bounded in size: what may be logged and stored."""
        clean, places = attempt.redactor, Alterations()
        output = clean.value(readable(self.output, places.too_deep), places.masked)
        return replace(
            self,
            output=bound_output(output),
            message=cut_end(clean.text(readable_text(self.message)), MAX_MESSAGE),
            details=_bounded(clean.value(readable(_plain(self.details)))),
            kind=clean.text(readable_text(self.kind)),
            log=clean.text(self.log),
            altered=places.found,
        )

    def retry_in(self, attempt: Attempt) -> float | None:
        """Seconds until the next attempt; None when the verdict is permanent."""
        if self.permanent:
            return None
        if self.outcome in _GO_ON_ELSEWHERE:
            return 0.0
        return max(retry_delay(attempt.call.step.retry, attempt.number, self.retry_after), _AT_ONCE)

    def to_failure(self, attempt: Attempt) -> ApplicationError:
        """The error for Temporal; its first detail maps `handler`, `attempt`, `permanent` and what the handler added.

        After a drain, and where it is given back, the server must not try again by itself, since it would count the attempt: the run does so.
        """
        delay = self.retry_in(attempt)
        facts = {"handler": attempt.call.step.handler, "attempt": attempt.number, "permanent": self.permanent}
        added = {f"details.{key}" if key in facts else key: value for key, value in self.details.items()}
        return ApplicationError(
            self.message,
            facts | added,
            *self.last_heartbeat,
            type=_TYPES[self.outcome],
            non_retryable=self.permanent or self.outcome in _GO_ON_ELSEWHERE,
            next_retry_delay=timedelta(seconds=delay) if delay else None,
        )


def _plain(details: dict[str, Any]) -> dict[str, Any]:
    """A handler may give anything as details; what is no JSON is shown as Python shows it."""
    try:
        plain: dict[str, Any] = to_json(details)
    except ValueError:
        return {str(key): repr(value) for key, value in details.items()}
    return plain


def _bounded(details: dict[str, Any]) -> dict[str, Any]:
    whole = bound_output(details, MAX_DETAILS)
    return details if whole is details else {"cut": whole}
