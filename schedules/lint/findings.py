"""All that lint finds in jobs that can be read, before the server sees any of it. Pure."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from schedules.lint.commands import command_findings
from schedules.lint.labels import label_findings
from schedules.lint.overlap import catch_up_findings, steps_findings
from schedules.lint.project import project_findings
from schedules.lint.reading import reading_findings
from schedules.lint.secrets import secret_findings
from schedules.lint.times import never_fires, times_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from schedules.lint.finding import Finding
    from schedules.spec.job import JobSpec
    from schedules.spec.project import Project
    from schedules.times.job import JobTimes

STARTS_PER_SECOND = 30.0
"""What a self-hosted server lets the schedules of a namespace start (dynamic config `worker.schedulerNamespaceStartWorkflowRPS`)."""


def errors(job: JobSpec, times: JobTimes) -> Iterator[Finding]:
    """The findings that keep a job from being synced."""
    return (finding for finding in never_fires(job, times) if finding.id not in job.lint.ignore)


def findings(
    project: Project,
    times: Mapping[str, JobTimes],
    now: datetime,
    *,
    limit: float = STARTS_PER_SECOND,
    quiet: bool = False,
    whole: bool = True,
) -> Iterator[Finding]:
    """Errors, warnings and infos as seen at an aware instant, without those that a job says to ignore.

    `whole` says that the project has all its jobs; otherwise nothing is found about them together.
    """
    for job in project.jobs:
        yield from errors(job, times[job.name])
    for job in project.jobs:
        found = times[job.name]
        seen = (
            times_findings(job, found, now),
            catch_up_findings(job, found, now),
            reading_findings(job, found, project.name, now),
            steps_findings(job),
            label_findings(job),
            command_findings(job),
            secret_findings(job),
        )
        for finding in chain.from_iterable(seen):
            if finding.id not in job.lint.ignore:
                yield finding
    if whole:
        yield from project_findings(project, times, now, limit=limit, quiet=quiet)
