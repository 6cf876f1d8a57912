"""A job whose schedule is gone, as far as its runs and its scheduler's history still tell."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from activities.occurrence import job_of
from schedules.ledger.facts import Job
from schedules.ledger.translate import SCHEDULED_BY, run_from, times_at
from schedules.model import Times

if TYPE_CHECKING:
    from schedules.ledger.records import Records

BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
NO_TIMES = Times("UTC")


async def deleted_job(records: Records, name: str, now: datetime) -> Job | None:
    """With the times that it had last, and deleted since its scheduler was last seen at work; None where no run of such a job is kept. Raises ServerError."""
    quoted = name.replace("'", "''")
    found = await records.newest_executions(f"{SCHEDULED_BY} = '{quoted}'")
    runs = [(run, each.type.name) for each in found if (run := run_from(each)) is not None]
    if not runs:
        return None
    record = await records.record(name, BEGIN, now)
    times = times_at(record, now) if record else None
    last = max(record.wakes, default=None) if record else None
    newest, workflow_type = max(runs, key=lambda pair: pair[0].started_at)
    return Job(
        name,
        times or NO_TIMES,
        workflow_id=job_of(newest.id),
        workflow_type=workflow_type,
        deleted_at=max(last or newest.started_at, newest.started_at),
    )
