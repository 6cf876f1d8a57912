"""Findings about labels: those that alerts cannot have by their own names. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.lint.finding import Finding
from schedules.spec.labels import RESERVED, alert_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.spec.job import JobSpec


def label_findings(job: JobSpec) -> Iterator[Finding]:
    """A person who wrote `severity` would look for it in the alert, where it means something else."""
    for name in sorted(job.labels.keys() & RESERVED):
        message = f"alerts have a label `{name}` of their own, so this one becomes `{alert_label(name)}` there; choose another name"
        yield Finding("label-renamed", message, ("labels", name), job.name)
