"""Catching up after a pause: its times stand in the schedule's note until a backfill has taken them over."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from activities.note import MOVING, paused_at
from schedules.cron.occurrences import occurrences_of
from schedules.errors import ServerError, SettingsError
from schedules.ledger.translate import times_at, with_times
from schedules.notes import MakeUp, make_up_of, resume_note
from schedules.operating.backfill_request import request_for
from schedules.operating.backfills import Backfills, BusyError
from schedules.operating.holes import of_pause
from schedules.operating.span import accounts

if TYPE_CHECKING:
    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.operating.writes import Writes

SETTLES = 2.0
"""Seconds within which the schedule starts what was due just when its pause ended."""

LATE = timedelta(seconds=10)
"""A start that was due so long before a pause began may have been late, and kept back by it."""


async def resume(
    records: Records, writes: Writes, job: Job, who: str, reason: str, catchup: str, most: int | None
) -> tuple[str, str, list[str]]:
    """Ends the pause of one job: its note now, what to know besides, and the times that run now. Raises TickwrightError.

    `most` of the newest times of the pause, None for all; `catchup` is how it was asked for. The note says first what is to be made
    up for, so that the same command finds it again where this one is ended in between.
    """
    if job.note == MOVING:
        raise ServerError(
            "resume", "UNAVAILABLE", f"Temporal is moving `{job.name}` to its other scheduler; try again soon"
        )
    await writes.forget_resume(job.name)
    open_wish = None if job.paused else make_up_of(job.note)
    if not job.paused and (open_wish is None or not catchup):
        return job.note, _not_paused(job, open_wish), []
    if not catchup:
        note = resume_note(who, datetime.now(UTC), reason, since=paused_at(job.note))
        await writes.unpause(job.name, note)
        return note, "", []
    if await Backfills(writes.client).goes_on(job.name):
        raise BusyError(job.name)
    now = datetime.now(UTC)
    since = open_wish.since if open_wish else await _paused_since(records, job, now)
    resumed = open_wish.resumed if open_wish else now
    wish = MakeUp(since, resumed, catchup)
    if not open_wish:
        await writes.unpause(job.name, resume_note(who, resumed, reason, wish))
    times = await _times(records, job, wish, most)
    observed = await writes.gateway.describe(job.name)
    if times and observed is not None:
        await Backfills(writes.client).start(observed, request_for(job, times))
    note = resume_note(who, resumed, reason, since=since)
    await writes.unpause(job.name, note)
    told = (
        f"{len(times)} times of the pause run now; follow them with `tickwright backfill {job.name} --watch`"
        if times
        else ""
    )
    return note, told, times


def _not_paused(job: Job, wish: MakeUp | None) -> str:
    if wish is None:
        return "it was not paused"
    return f"an earlier resume was interrupted before it ran the times of the pause; run `tickwright resume {job.name} --catchup {wish.catchup}`"


async def _times(records: Records, job: Job, wish: MakeUp, most: int | None) -> list[str]:
    """The newest `most` times of the pause without those that have succeeded or go on, oldest first. Raises SettingsError.

    They are the times of the schedule when its pause ended; of its present spec where the server does not tell those.
    """
    until = min(datetime.now(UTC), wish.resumed + wish.LONGEST)
    if any(occurrences_of(job.times).between(wish.resumed, until)):
        await asyncio.sleep(SETTLES)
    now = datetime.now(UTC)
    known = await records.job(job.name) or job
    record = await records.record(job.name, wish.resumed, now)
    if record and record.knows(wish.resumed) and (then := times_at(record, wish.resumed)):
        known = with_times(known, then)
    occurrences = await accounts(records, known, wish.since - LATE, until, now)
    return of_pause(occurrences, wish.since, wish.resumed, most)


async def _paused_since(records: Records, job: Job, now: datetime) -> datetime:
    """The beginning of the current pause. Raises SettingsError where nothing tells."""
    record = await records.record(job.name, now, now)
    pause = record.pause_at(now) if record else None
    since = pause.at if pause and pause.kind != "known" else paused_at(job.note)
    if since is None:
        raise SettingsError(
            f"it is not known since when `{job.name}` is paused, so nothing was done; resume it without --catchup, then run "
            f"`tickwright backfill {job.name} --missing --from T`"
        )
    return since
