"""Every occurrence of a span of any length, with what became of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from schedules.cron.occurrences import occurrences_of
from schedules.errors import SettingsError
from schedules.ledger.account import SECOND, account
from schedules.ledger.occurrences import ledger

if TYPE_CHECKING:
    from schedules.ledger.facts import Job
    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.port import JobRecords

PIECE = 400
LOOK_AGAIN = 1.0
SETTLES = timedelta(seconds=15)
"""A start that may come any moment has come, or is told otherwise, within this."""
MOST = 10_000
"""Occurrences of one backfill: its request must fit into what a server takes as one payload."""


async def accounts(records: JobRecords, job: Job, since: datetime, until: datetime, now: datetime) -> list[Occurrence]:
    """From since to until, both included, oldest first. Raises SettingsError for more than `MOST`, and ServerError.

    Why older ones have no run is not looked for: that takes the whole history of the schedule.
    """
    times = list(islice(occurrences_of(job.times).between(since, until + SECOND), MOST + 1))
    if len(times) > MOST:
        raise SettingsError(
            f"more than {MOST:,} occurrences from --from to --to, the most for one backfill; write an earlier --to"
        )
    found: list[Occurrence] = []
    for first in range(0, len(times), PIECE):
        piece = times[first : first + PIECE]
        newest = first + PIECE >= len(times)
        found.extend(await _piece(records, job, piece[0], piece[-1], now, why=newest or job.waiting > 0))
    return found


async def settled(records: JobRecords, job: Job, since: datetime, until: datetime, now: datetime) -> list[Occurrence]:
    """The same, once none may start any moment: it is waited for, as long as that takes on a server that is there."""
    found = await accounts(records, job, since, until, now)
    give_up = now + SETTLES
    while (first := next((each.scheduled_at for each in found if each.verdict == "due"), None)) and now < give_up:
        await asyncio.sleep(LOOK_AGAIN)
        now = datetime.now(UTC)
        known = await records.job(job.name) or job
        found = [each for each in found if each.scheduled_at < first] + await accounts(
            records, known, first, until, now
        )
    return found


async def _piece(
    records: JobRecords, job: Job, since: datetime, until: datetime, now: datetime, *, why: bool
) -> list[Occurrence]:
    """`why` is needed where the schedule may hold back starts that are still to come."""
    if why:
        known = await account(records, job, since, until, now)
        if known.since <= since:
            return known.occurrences
    runs = (await records.runs_of(job, since, until)).runs
    return ledger(job, await records.with_waiting(await records.with_results(runs)), since, until, now)
