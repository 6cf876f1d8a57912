"""Attempts that a test makes fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from activities.errors import HandlerError
from activities.steps.ending import Ending
from schedules.text.nearest import suggestion
from worker.testkit.errors import KitError
from worker.testkit.moments import Moment, means, shown

if TYPE_CHECKING:
    from datetime import datetime

    from activities.contract import StepRequest

BY_DEFAULT = "made to fail by the test"


@dataclass(frozen=True)
class Fault:
    """An attempt that fails with `error`: a text, an exception, a HandlerError with its verdict, or a TimeoutError.

    `on` is a scheduled time, or a date for all of that day, in the job's zone; None means each of the span. `attempts` are
    numbers from 1, one or several; None means every one. `step` is needed only where the job has several.
    With `after`, the step does its work first, and then its answer is lost: what a second attempt must not do again.
    Without, the step is not even asked.
    """

    on: Moment | None = None
    attempts: int | Iterable[int] | None = None
    step: str | None = None
    error: str | Exception = BY_DEFAULT
    after: bool = False

    def __post_init__(self) -> None:
        if self.attempts is not None:
            given = (self.attempts,) if isinstance(self.attempts, int) else tuple(self.attempts)
            object.__setattr__(self, "attempts", given)
            if not given or min(given) < 1:
                raise KitError(f"{self}: attempts count from 1; write for example attempts=3 or attempts=(1, 2)")

    @property
    def numbers(self) -> tuple[int, ...]:
        """The attempts that are named; none means every one."""
        return self.attempts if isinstance(self.attempts, tuple) else ()

    def ending(self, timeout: float) -> Ending:
        """How the attempt ends."""
        if isinstance(self.error, HandlerError):
            return Ending.of_error(self.error)
        if isinstance(self.error, TimeoutError):
            return Ending("timed_out", message=f"timed out after {timeout:g} s")
        kind = "" if isinstance(self.error, str) else f"{type(self.error).__name__}: "
        return Ending("failed", message=f"{kind}{self.error}")

    def __str__(self) -> str:
        when = "" if self.on is None else f" on {self.on}"
        numbers = f", attempts {', '.join(map(str, self.numbers))}" if self.numbers else ""
        return f"the fault{when}{f', step {self.step}' if self.step else ''}{numbers}"


class FaultPlan:
    """The faults of one run of the kit, and which of them have happened."""

    def __init__(self, faults: Iterable[Fault], times: Sequence[datetime], steps: Sequence[StepRequest]) -> None:
        """`times` are local. Raises KitError for a fault that cannot happen."""
        self.unspent = 0.0
        """Seconds that attempts made to time out would have taken, where no next one comes later by them."""
        self._faults = list(faults)
        self._happened: set[tuple[int, int]] = set()
        for fault in self._faults:
            _check(fault, times, steps)

    def fault_at(self, scheduled_at: datetime, step: str, attempt: int) -> Fault | None:
        """The first that hits the attempt."""
        for index, fault in enumerate(self._faults):
            if (
                (fault.on is None or means(fault.on, scheduled_at))
                and fault.step in {None, step}
                and (not fault.numbers or attempt in fault.numbers)
            ):
                self._happened |= {(index, attempt)}
                return fault
        return None

    def check_all_happened(self) -> None:
        """Raises KitError that names those that did not: the test would show less than it seems to."""
        for index, fault in enumerate(self._faults):
            seen = {attempt for place, attempt in self._happened if place == index}
            missing = sorted(set(fault.numbers) - seen)
            if not seen or missing:
                what = f"attempt {missing[0]}" if missing else "it"
                raise KitError(f"{fault}: {what} did not happen{_hint(missing)}")


def _hint(missing: list[int]) -> str:
    if not missing or missing[0] == 1:
        return "; the step did not run there, or another fault came first"
    return f"; there is an attempt {missing[0]} only if those before it fail: attempts=range(1, {missing[0] + 1})"


def _check(fault: Fault, times: Sequence[datetime], steps: Sequence[StepRequest]) -> None:
    names = [step.name for step in steps]
    if fault.step is not None and fault.step not in names:
        raise KitError(f"{fault}: the job has no such step; {suggestion(fault.step, names, 'steps')}")
    if fault.on is not None and not any(means(fault.on, each) for each in times):
        raise KitError(f"{fault}: nothing is scheduled there; the span has {shown(times[0])} to {shown(times[-1])}")
    most = max(step.retry.max_attempts for step in steps if fault.step in {None, step.name})
    if fault.numbers and max(fault.numbers) > most:
        raise KitError(f"{fault}: there are at most {most} attempts (retry.max_attempts)")
    if any(step.handler == "workflow" for step in steps if fault.step in {None, step.name}):
        raise KitError(f"{fault}: a workflow of your own has no attempts to make fail; give it a stand-in, workflow=…")
