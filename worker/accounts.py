"""The account of a job's occurrence for the watchdog: the one that `explain` gives.

What reads it is loaded with the first question: where nothing is missing, none is asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from activities.account.facts import Accounted

if TYPE_CHECKING:
    from datetime import datetime

    from temporalio.client import Client

    from activities.watchdog.missed import AccountOf
    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records

UNKNOWN_TIME = Accounted("not_due_then", "it is no time of the schedule")


def accounts_of(client: Client) -> AccountOf:
    """Reads the namespace of a client, each time anew."""

    async def account_of(job: str, at: datetime, now: datetime) -> Accounted | None:
        from schedules.ledger.records import Records

        return await accounted(Records(client), job, at, now)

    return account_of


async def accounted(records: Records, name: str, at: datetime, now: datetime) -> Accounted | None:
    """What became of one time of a job; None where the job has no schedule. Raises ServerError."""
    from schedules.ledger.account import account

    if (job := await records.job(name)) is None:
        return None
    found = await account(records, job, at, at, now)
    occurrence = next(iter(found.occurrences), None)
    if occurrence is None:
        return await _not_among_its_times(records, job, at, now)
    open_runs = tuple(run for run in found.runs if run.closed_at is None and run.scheduled_at != at)
    return Accounted(occurrence.verdict, occurrence.reason, occurrence.run, open_runs, job.paused)


async def _not_among_its_times(records: Records, job: Job, at: datetime, now: datetime) -> Accounted:
    """Missed where somebody has taken the time from the schedule before; a sync that does so changes the watchdog, too."""
    record, begin, end = await records.record(job.name, at, now), job.times.start_at, job.times.end_at
    is_outside = (begin and at < begin) or (end and at > end)
    if job.paused or is_outside or record is None or not record.knows(at) or record.change_after(at):
        return UNKNOWN_TIME
    return replace(UNKNOWN_TIME, verdict="missed", reason="its schedule does not have this time; a sync puts it right")
