"""The result of a test: the occurrences of a span, each with its outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from activities.contract import Outcome
from worker.testkit.errors import KitError
from worker.testkit.moments import Moment, means, shown

if TYPE_CHECKING:
    from datetime import datetime

    from activities.contract import StepResult
    from worker.testkit.calls import Call

MOST_SHOWN = 20
KitOutcome = Outcome | Literal["terminated"]
"""`terminated` is how a run ends that `overlap: terminate_other` ends; Temporal keeps no result of it."""


@dataclass(frozen=True, kw_only=True)
class Occurrence:
    """How one occurrence ended.

    `scheduled_at` is aware, in the job's timezone. `duration` is the whole run, waits between attempts included, and
    `lateness` how long it waited for the run before it (`overlap: buffer_…`), both in seconds of the server's clock.
    `attempts` are those of all its steps; None where nothing tells. `calls` are what handlers and stand-ins were given.
    """

    scheduled_at: datetime
    outcome: KitOutcome
    attempts: int | None = 0
    duration: float = 0.0
    lateness: float = 0.0
    reason: str = ""
    steps: tuple[StepResult, ...] = ()
    calls: tuple[Call, ...] = ()

    @property
    def outputs(self) -> dict[str, Any]:
        """What the steps gave back, by their names."""
        return {step.name: step.output for step in self.steps}

    @property
    def output(self) -> Any:
        """What the one step gave back, None where it did not succeed. Raises KitError where there are several."""
        if len(self.steps) > 1:
            raise KitError(f"there are outputs of {', '.join(self.outputs)}; choose one of them: outputs[…]")
        return self.steps[0].output if self.steps else None

    def __str__(self) -> str:
        counted = f" after {self.attempts} attempts" if self.attempts and self.attempts > 1 else ""
        return f"{shown(self.scheduled_at)} {self.outcome}{counted}" + (f": {self.reason}" if self.reason else "")


class Outcomes(Counter[KitOutcome]):
    """How many occurrences ended in which way; equal to a plain dict of the same figures. `others` are those not succeeded."""

    def __init__(self, occurrences: Iterable[Occurrence] = ()) -> None:
        found = list(occurrences)
        super().__init__(occurrence.outcome for occurrence in found)
        self.others = tuple(occurrence for occurrence in found if occurrence.outcome != "succeeded")

    def explained(self) -> list[str]:
        """A line for each occurrence that did not succeed, the first MOST_SHOWN of them."""
        more = len(self.others) - MOST_SHOWN
        return [str(each) for each in self.others[:MOST_SHOWN]] + ([f"and {more} more"] if more > 0 else [])


class Occurrences(Sequence[Occurrence]):
    """All occurrences of a job in a span, oldest first; `[…]` takes an index, or a date or time of the job's zone."""

    def __init__(self, job: str, occurrences: Sequence[Occurrence]) -> None:
        self.job = job
        self._all = tuple(occurrences)

    @property
    def outcomes(self) -> Outcomes:
        """How many ended in which way, such as `{"succeeded": 30, "failed": 1}`."""
        return Outcomes(self._all)

    @property
    def calls(self) -> list[Call]:
        """What handlers and stand-ins were given, attempt by attempt."""
        return [call for occurrence in self._all for call in occurrence.calls]

    @overload
    def __getitem__(self, key: int | Moment) -> Occurrence: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Occurrence]: ...
    def __getitem__(self, key: int | slice | Moment) -> Occurrence | Sequence[Occurrence]:
        if isinstance(key, int | slice):
            return self._all[key]
        found = [occurrence for occurrence in self._all if means(key, occurrence.scheduled_at)]
        if len(found) == 1:
            return found[0]
        what = f"{len(found)} occurrences" if found else "no occurrence"
        there = ", ".join(shown(each.scheduled_at) for each in (found or self._all)[:MOST_SHOWN])
        raise KitError(f"{self.job} has {what} at {key}; name one of: {there}")

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        figures = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.items())
        return "\n  ".join([f"<{len(self)} occurrences of {self.job}: {figures}>", *self.outcomes.explained()])
