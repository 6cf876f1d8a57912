"""Durations of runs from when a worker took them; visibility tells only the start by the server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedules.monitor.deadline import unsure

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.ledger.records import Records
    from schedules.monitor.memory import Memory
    from schedules.monitor.monitored_job import MonitoredJob

MOST = 200
"""Ends that are read in one look."""


async def read_durations(records: Records, known: Iterable[MonitoredJob]) -> None:
    """Reads the ends of successes that may have waited for a worker, each once; the others are as visibility has them."""
    known = list(known)
    for each in known:
        each.memory.ends_asked &= {run.run_id for run in each.memory.runs}
    asked = [(each.memory, run) for each in known for run in unsure(each.memory.runs) if _is_new(each.memory, run)]
    told = await records.with_results(run for _, run in asked[:MOST])
    for (memory, run), ended in zip(asked, told, strict=False):
        memory.ends_asked.add(run.run_id)
        memory.mark_told(ended)


def _is_new(memory: Memory, run: Run) -> bool:
    return run.run_id not in memory.ends_asked


def taken(before: Run, after: Run, now: datetime) -> Run:
    """A run that goes on, as it was seen before and is seen now: one that has waited is at work since now, or shortly before."""
    return replace(after, taken_at=now) if before.waiting and not after.waiting else after
