"""A run of this moment, started by the schedule, and what became of the request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from activities.conflict_token import is_v2
from activities.occurrence import stamp
from activities.overlap import KEPT_BY_V2, overlap_policy
from schedules.cron.occurrences import occurrences_of
from schedules.errors import ServerError
from schedules.operating.follow import follow_run, newest_run
from schedules.operating.triggered import Triggered
from schedules.operating.turn import turn
from schedules.operating.writes import Writes
from schedules.server.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from activities.account.facts import Run
    from activities.overlap import Overlap
    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.model import ObservedSchedule
    from schedules.operating.triggered import TriggerRequest
    from schedules.operating.turn import Turn

PATIENCE = 8.0
"""Seconds within which the schedule starts what it can start."""
LOOK_AGAIN = 0.2
SECOND = timedelta(seconds=1)
LATE_IN_A_SECOND = 0.7
"""After this part of a second the request may arrive in the next one."""
SECONDS_TRIED = 5
WAITS_NO_MORE = "it waits no more: a pause or another start has taken its place"


@dataclass(frozen=True, slots=True)
class Asked:
    """The request to a schedule: a run of the first second, or on V2 of the one in which the request arrived."""

    seconds: tuple[datetime, ...]
    running: tuple[str, ...]
    unanswered: str = ""


async def trigger_now(
    records: Records,
    job: Job,
    request: TriggerRequest,
    tell: Callable[[str], None],
    stop: asyncio.Event,
) -> Triggered:
    """Asks the schedule, whose overlap policy decides, and looks what it did. Raises ServerError."""
    overlap = request.overlap or job.overlap or "skip"
    asked = await _ask(records, job, overlap)
    if isinstance(asked, Triggered):
        return asked
    run = await _started(records, job, asked, PATIENCE)
    if run is None:
        waits = await _not_started(records, job, asked, overlap)
        if waits.result != "waiting" or not request.wait:
            return waits
        tell(f"{waits.workflow_id}: {waits.reason}")
        run = await _awaited(records, job, asked, stop)
        if run is None:
            return waits if stop.is_set() else replace(waits, result="dropped", reason=WAITS_NO_MORE)
    if not await Workers(records.client).polls(run.task_queue):
        tell(f"no worker polls task queue `{run.task_queue}`; the run waits until one does")
    if not request.wait:
        return Triggered(job.name, run.id, stamp(run.scheduled_at), "started")
    outcome, reason = await follow_run(records, run, tell, stop)
    return Triggered(job.name, run.id, stamp(run.scheduled_at), outcome, reason)


async def _ask(records: Records, job: Job, overlap: Overlap) -> Asked | Triggered:
    """The request, made once; or why none was made."""
    writes = Writes(records.client)
    async with turn(records.client, job.name) as mine:
        at = await _free_second(records, job, mine)
        observed = await writes.gateway.describe(job.name)
        running = observed.activity.running if observed else ()
        if observed and (reason := _left_out(observed, overlap)):
            return Triggered(job.name, job.occurrence_id(at), stamp(at), "dropped", reason)
        unanswered = await writes.trigger(job.name, at, overlap)
        last = mine.now().replace(microsecond=0)
        await asyncio.sleep(
            (last + SECOND - mine.now()).total_seconds()
        )  # the next command's request is another second's
    return Asked(tuple(at + count * SECOND for count in range((last - at) // SECOND + 1)), running, unanswered)


def _left_out(observed: ObservedSchedule, overlap: Overlap) -> str:
    """The reason for which overlap leaves out a start of now; empty where it starts or waits."""
    if not observed.activity.running:
        return ""
    first, queued = observed.activity.running[0], observed.activity.queued
    if overlap == "skip":
        return f"{first} is running, and overlap is skip; wait for its end, or add --overlap buffer_one or allow_all"
    if overlap == "buffer_one" and queued >= (KEPT_BY_V2 if is_v2(observed.version) else 1):
        return f"{first} is running, another start already waits, and overlap is buffer_one; add --overlap buffer_all or allow_all"
    return ""


async def _awaited(records: Records, job: Job, asked: Asked, stop: asyncio.Event) -> Run | None:
    """The run that waited, once there is one; None once the schedule has no start that waits and there is no run, or at `stop`."""
    writes, queued, run = Writes(records.client), True, None
    while run is None and queued and not stop.is_set():
        observed = await writes.gateway.describe(job.name)
        queued = observed is not None and observed.activity.queued > 0
        run = await _started(records, job, asked, 1.0 if queued else PATIENCE)
    return run


async def _free_second(records: Records, job: Job, mine: Turn) -> datetime:
    """The beginning of a second of which there is no run, and which is none of the job's times unless nearly all are."""
    times = occurrences_of(job.times)
    tried = 0
    while True:
        now = mine.now()
        at = now.replace(microsecond=0)
        crowded = now - at > LATE_IN_A_SECOND * SECOND or any(times.between(at, at + SECOND))
        if not (crowded and tried < SECONDS_TRIED) and await newest_run(records, job, at) is None:
            return at
        await asyncio.sleep((at + SECOND - mine.now()).total_seconds())
        tried += 1


async def _not_started(records: Records, job: Job, asked: Asked, overlap: Overlap) -> Triggered:
    """The reason for which there is no run yet. Raises ServerError where nothing tells."""
    at = stamp(asked.seconds[0])
    found = await Writes(records.client).gateway.describe(job.name)
    running = (found.activity.running if found else ()) or asked.running
    policy, workflow_id = overlap_policy(overlap), job.occurrence_id(asked.seconds[0])
    if running and not asked.unanswered:
        if (policy.buffers or policy.ends_other) and found and found.activity.queued:
            return Triggered(job.name, workflow_id, at, "waiting", f"it starts when {running[0]} has ended")
        if policy.name == "skip":
            return Triggered(job.name, workflow_id, at, "dropped", f"{running[0]} is running, and overlap is skip")
    why = asked.unanswered or f"no run started within {PATIENCE:.0f} s"
    message = f"a run of `{job.name}` was requested, but {why}; it may still start, so look at `tickwright runs {job.name}` before you try again"
    raise ServerError("trigger", "ABORTED", message)


async def _started(records: Records, job: Job, asked: Asked, seconds: float) -> Run | None:
    """The run that was asked for, once there is one; None where there is none after so many seconds."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while True:
        for at in asked.seconds:
            if run := await newest_run(records, job, at):
                return run
        if loop.time() > until:
            return None
        await asyncio.sleep(LOOK_AGAIN)
