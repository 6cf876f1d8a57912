"""What happens to steps, as facts for whoever counts them (metrics)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from activities.contract import HandlerKind

AttemptOutcome = Literal["succeeded", "failed", "timed_out", "cancelled", "worker_shutdown"]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """An attempt began."""

    job: str
    step: str
    handler: HandlerKind
    attempt: int


@dataclass(frozen=True, slots=True)
class StepFinished:
    """An attempt ended; `duration` in seconds; `permanent`: no further attempt will follow from it."""

    job: str
    step: str
    handler: HandlerKind
    attempt: int
    outcome: AttemptOutcome
    duration: float
    permanent: bool = False


Observer = Callable[[StepStarted | StepFinished], None]
"""Called on the event loop; must be quick and must not raise."""


def unobserved(_fact: StepStarted | StepFinished) -> None:
    """The observer of nobody."""
