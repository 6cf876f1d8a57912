"""Which steps may start, which are left out, and whose effects are to be taken back. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from activities.steps.graph import ancestors, needs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from activities.contract import StepOutcome, StepRequest

FAILED: dict[StepOutcome, str] = {"failed": "failed", "timed_out": "timed out"}
UNDONE = frozenset({"succeeded", "cancelled"})
"""What a step's compensation runs after: its effect is there, or may be, since it was stopped in the middle."""


@dataclass(frozen=True)
class Due:
    """A step whose turn it is; `left_out` says why it does not run, empty where it does."""

    step: StepRequest
    left_out: str = ""


class Order:
    """The order of one run. `ended` are outcomes by step, in the order in which they came.

    A step's turn comes when all that it needs have ended. Whether it runs depends on all its ancestors: those that were
    left out count as if they were not there.
    """

    def __init__(self, steps: Sequence[StepRequest]) -> None:
        self.ended: dict[str, StepOutcome] = {}
        self.cancelled = False
        self.cut_short = False
        """Whether the cancellation has kept a step from running, or from its end."""
        self._steps = steps
        self._needs = needs_of(steps)
        self._ancestors = {step.name: ancestors(step.name, self._needs) for step in steps}
        self._begun: dict[str, None] = {}

    def due(self) -> Iterator[Due]:
        """Steps whose turn has come, in the spec's order, each of them once; one that is left out has ended with that."""
        found = True
        while found:
            found = False
            for step in self._steps:
                if step.name in self._begun or not all(need in self.ended for need in self._needs[step.name]):
                    continue
                self._begun[step.name], found = None, True
                left_out = self._left_out(step)
                if left_out:
                    self.ended[step.name] = "skipped"
                yield Due(step, left_out)

    def end(self, name: str, outcome: StepOutcome) -> None:
        """A step that was due has ended."""
        self.ended[name] = outcome
        self.cut_short |= outcome == "cancelled"

    @property
    def stuck(self) -> list[str]:
        """Once nothing runs any more: steps whose turn never comes, which lint refuses and a request made by hand may have."""
        return [step.name for step in self._steps if step.name not in self._begun]

    @property
    def succeeded(self) -> bool:
        """Whether all steps ran that were to, and none failed."""
        return not self.cut_short and not self.stuck and FAILED.keys().isdisjoint(self.ended.values())

    @property
    def to_undo(self) -> list[StepRequest]:
        """The steps to compensate: the last one that ended comes first."""
        by_name = {step.name: step for step in self._steps}
        ended = (by_name[name] for name, outcome in reversed(self.ended.items()) if outcome in UNDONE)
        return [step for step in ended if step.compensate is not None]

    def _left_out(self, step: StepRequest) -> str:
        failed = [name for name, outcome in self.ended.items() if outcome in FAILED]
        before = next((name for name in failed if name in self._ancestors[step.name]), None)
        if step.when == "on_failure":
            return "" if before else "no step before it failed"
        if step.when == "always":
            return ""
        if before:
            return f"step {before} {FAILED[self.ended[before]]}"
        self.cut_short |= self.cancelled
        return "the run was cancelled" if self.cancelled else ""
