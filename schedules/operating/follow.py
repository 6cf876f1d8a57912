"""Follows a run to its end: what it does now, and what it came to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from activities.account.facts import Run
from schedules.ledger.explain import story
from schedules.ledger.translate import run_from

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.ledger.story import StepStory

LOOK_AGAIN = 0.5
UNFINISHED = "started"


async def newest_run(records: Records, job: Job, at: datetime) -> Run | None:
    """The newest run of an occurrence, by the server's own state of it and not by its index; None for none."""
    sought = Run(job.occurrence_id(at), "", at, at)
    described = await records.described(sought.id, sought.run_id)
    return run_from(described.workflow_execution_info) if described else None


async def follow_run(records: Records, run: Run, tell: Callable[[str], None], stop: asyncio.Event) -> tuple[str, str]:
    """Its outcome and the reason, once it has ended; `started` where `stop` was set before."""
    told = ""
    while not stop.is_set():
        described = await records.described(run.id, run.run_id)
        now = run_from(described.workflow_execution_info) if described else None
        if now is None:
            return "forgotten", "the server no longer keeps the run"
        if now.closed_at is not None:
            [ended] = await records.with_results([now])
            return ended.verdict, (ended.result.reason if ended.result else "")
        steps = (await story(records, now)).steps
        line = f"{run.id}: " + (", ".join(map(_step, steps)) or "no worker has taken it yet")
        if line != told:
            tell(line)
            told = line
        await asyncio.sleep(LOOK_AGAIN)
    return UNFINISHED, "it is still running"


def _step(step: StepStory) -> str:
    attempt = f", attempt {step.attempts}" if step.attempts > 1 else ""
    return f"{step.name} {step.end}{attempt}"
