"""Facts about runs and their steps, for metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from activities.contract import Outcome

AttemptOutcome = Literal["succeeded", "failed", "timed_out", "cancelled", "worker_shutdown", "given_back"]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """An attempt began."""

    job: str
    step: str
    handler: str
    attempt: int


@dataclass(frozen=True, slots=True)
class StepFinished:
    """An attempt ended; `duration` in seconds; `permanent`: no further attempt will follow from it; `kind` of a failure."""

    job: str
    step: str
    handler: str
    attempt: int
    outcome: AttemptOutcome
    duration: float
    permanent: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True)
class StepEnded:
    """A step of a run ended, with all its attempts and the waits between them; `duration` in seconds."""

    job: str
    step: str
    duration: float


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run ended; `lateness` and `duration` in seconds."""

    job: str
    outcome: Outcome
    lateness: float
    duration: float


RunObserver = Callable[[StepEnded | RunEnded], None]
"""Called in threads of workflow tasks; must be quick and must not raise."""
RUN_OBSERVER = "tickwright_run_observer"
"""The name under which workflows find a RunObserver among the functions that their worker lends them."""
Observer = Callable[[StepStarted | StepFinished], None]
"""Called on the event loop; must be quick and must not raise."""


def unobserved(_fact: StepStarted | StepFinished) -> None:
    """The observer of nobody."""
