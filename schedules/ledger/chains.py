"""Workflows that the server begins anew under the same id: retried by its own policy, or continued as new. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from activities.contract import JOB_WORKFLOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from activities.account.facts import Run, Status
    from schedules.ledger.facts import Job

AT_ONCE = timedelta(seconds=1)
"""The server begins the next one in the moment in which it ends the one before; whoever else starts it takes longer."""
GOES_ON: frozenset[Status] = frozenset({"failed", "timed_out", "continued"})


def chained(job: Job, runs: Sequence[Run]) -> list[Run]:
    """Each chain as its last run that began with its first; a job's own workflow has none. Runs may be in any order."""
    if job.workflow_type == JOB_WORKFLOW:
        return list(runs)
    found: list[Run] = []
    for run in sorted(runs, key=lambda each: (each.id, each.started_at)):
        if found and _goes_on(found[-1], run):
            first = found.pop()
            run = replace(run, started_at=first.started_at, links=first.links + 1)  # noqa: PLW2901 - the same, longer
        found.append(run)
    return found


def _goes_on(before: Run, run: Run) -> bool:
    if before.id != run.id or before.closed_at is None or before.status not in GOES_ON:
        return False
    return abs(run.started_at - before.closed_at) <= AT_ONCE
