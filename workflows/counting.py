"""Facts about runs for metrics, given to a function of the worker: outside of the history and never twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.observe import RUN_OBSERVER, RunEnded, StepEnded

if TYPE_CHECKING:
    from datetime import timedelta

    from activities.contract import JobResult


def count_run(job: str, result: JobResult) -> None:
    """The end of a run."""
    _tell(RunEnded(job, result.outcome, result.lateness, result.duration))


def count_step(job: str, step: str, duration: timedelta) -> None:
    """The end of a step, counted from when it was due."""
    _tell(StepEnded(job, step, duration.total_seconds()))


def _tell(fact: RunEnded | StepEnded) -> None:
    """A replay has told it before; where nobody counts, as in a test, there is no such function."""
    observer = workflow.extern_functions().get(RUN_OBSERVER)
    if observer is not None and not workflow.unsafe.is_replaying():
        observer(fact)
