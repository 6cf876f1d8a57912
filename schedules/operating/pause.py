"""A pause of one job, for good or until a time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from activities.contract import ResumeOrder
from activities.note import paused_at
from activities.occurrence import stamp
from schedules.errors import SettingsError
from schedules.notes import pause_note, resumed_note
from schedules.operating.missing_worker import missing_worker
from schedules.times.moment import parse_instant

if TYPE_CHECKING:
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.operating.writes import Writes


async def pause(
    writes: Writes, job: Job, who: str, now: datetime, reason: str, until: datetime | None
) -> tuple[str, str]:
    """Pauses one job: the note that it has now, and what to know besides. Raises ServerError."""
    since = paused_at(job.note) if job.paused else None
    note = pause_note(who, now, reason, until, since)
    warning = f"it was already paused: {job.note}" if job.paused else ""
    observed = await writes.gateway.describe(job.name)
    if until and observed:
        order = ResumeOrder(job.name, note, stamp(until), resumed_note(until, since or now))
        await writes.resume_at(observed, order)  # first: a timer for a pause that fails to come does nothing
        if missing := await missing_worker(writes.client, observed.action):
            warning = f"{missing}; it stays paused until one does"
    else:
        await writes.forget_resume(job.name)
    await writes.pause(job.name, note)
    return note, warning


def pause_end(job: Job, text: str | None, now: datetime) -> datetime | None:
    """The instant that `--until` means, whole seconds; None without one. Raises SettingsError."""
    if text is None:
        return None
    until = parse_instant(text, now, timezone=job.times.timezone, ahead=True, option="--until")
    until += timedelta(microseconds=-until.microsecond)
    if until <= now:
        raise SettingsError(f"--until {text} has passed; write a later time, or a duration such as 2h")
    return until
