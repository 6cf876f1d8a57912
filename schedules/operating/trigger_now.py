"""A run of this moment, started by the schedule, and what became of the request."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from activities.occurrence import stamp
from activities.overlap import overlap_policy
from schedules.errors import ServerError
from schedules.operating.follow import follow_run, newest_run
from schedules.operating.triggered import Triggered
from schedules.operating.writes import Writes
from schedules.server.workers import Workers

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from schedules.ledger.facts import Job, Run
    from schedules.ledger.records import Records

PATIENCE = 8.0
"""Seconds within which the schedule starts what it can start."""
LOOK_AGAIN = 0.2
SECOND = timedelta(seconds=1)


async def trigger_now(
    records: Records,
    job: Job,
    now: datetime,
    options: argparse.Namespace,
    tell: Callable[[str], None],
    stop: asyncio.Event,
) -> Triggered:
    """Asks the schedule, whose overlap policy decides, and looks what it did. Raises ServerError."""
    overlap = options.overlap or job.overlap or "skip"
    writes = Writes(records.client)
    observed = await writes.gateway.describe(job.name)
    running = observed.activity.running if observed else ()
    at = await _free_second(records, job, now)
    workflow_id = job.occurrence_id(at)
    if running and overlap == "skip":
        reason = f"{running[0]} is running and overlap is skip; wait for it, or add --overlap buffer_one or allow_all"
        return Triggered(job.name, workflow_id, stamp(at), "dropped", reason)
    await writes.trigger(job.name, at, overlap)
    run = await _started(records, job, at, PATIENCE)
    if run is None and not running:
        raise ServerError("trigger", "ABORTED", f"`{job.name}` was asked for a run and has started none; try again")
    if run is None and not overlap_policy(overlap).buffers:
        return Triggered(
            job.name, workflow_id, stamp(at), "dropped", f"{running[0]} is running and overlap is {overlap}"
        )
    if run is None:
        waits = Triggered(job.name, workflow_id, stamp(at), "waiting", f"it starts when {running[0]} has ended")
        if not options.wait:
            return waits
        tell(f"{workflow_id}: {waits.reason}")
        while run is None and not stop.is_set():
            run = await _started(records, job, at, 1.0)
        if run is None:
            return waits
    if not await Workers(records.client).polls(run.task_queue):
        tell(f"no worker polls task queue `{run.task_queue}`: it waits until one does")
    if not options.wait:
        return Triggered(job.name, workflow_id, stamp(at), "started")
    outcome, reason = await follow_run(records, run, tell, stop)
    return Triggered(job.name, workflow_id, stamp(at), outcome, reason)


async def _free_second(records: Records, job: Job, now: datetime) -> datetime:
    """The first second from now on of which there is no run: it becomes part of the run's id."""
    at = now.replace(microsecond=0)
    while await newest_run(records, job, at):
        at += SECOND
    await asyncio.sleep(max(0.0, (at - datetime.now(UTC)).total_seconds()))
    return at


async def _started(records: Records, job: Job, at: datetime, seconds: float) -> Run | None:
    """The run of that time, once there is one; None where there is none after so many seconds."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while (run := await newest_run(records, job, at)) is None and loop.time() < until:  # noqa: ASYNC110  the server tells nobody
        await asyncio.sleep(LOOK_AGAIN)
    return run
