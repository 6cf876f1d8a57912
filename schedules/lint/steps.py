"""Findings about the steps of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.lint.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.spec.job import JobSpec


def steps_findings(job: JobSpec) -> Iterator[Finding]:
    """A run that the next one terminates ends at once, and takes nothing back."""
    undone = [step.name for step in job.steps if step.compensate]
    if undone and job.overlap == "terminate_other":
        message = (
            f"with overlap terminate_other a run is ended at once, and nothing takes back what {', '.join(undone)} did; "
            "choose cancel_other"
        )
        yield Finding("not-compensated", message, ("overlap",), job.name)
