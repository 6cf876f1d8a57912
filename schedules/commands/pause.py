"""`python -m schedules pause JOB…`: no starts until somebody resumes it, or until a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.commands.operating_options import AT_ONCE, WRITES, job_words, reason_option
from schedules.commands.reading import answer, output_option, read

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.operating.writes import Writes


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Pause jobs: nothing starts by itself until a resume. What runs goes on. A sync keeps the pause."
    )
    job_words(parser)
    parser.add_argument(
        "--until",
        metavar="T",
        help="end the pause after 2h, or at a local time of the job; at that time, a worker of the job's task queue must be up",
    )
    reason_option(parser)
    output_option(parser)
    parser.epilog = WRITES
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""

    async def work(records: Records, now: datetime) -> int:
        from schedules.console.signals import stop_on_signals
        from schedules.notes import checked_reason
        from schedules.operating.chosen import chosen_jobs
        from schedules.operating.each import each_job, show
        from schedules.operating.writes import Writes
        from schedules.sync.audit import audit_of

        who, reason = audit_of(()).who, checked_reason(options.reason)
        chosen = await chosen_jobs(records, options.jobs)
        ends = {job.name: _until(job, options.until, now) for job in chosen.jobs}
        writes = Writes(records.client)
        stop_on_signals(AT_ONCE)
        done = await each_job(chosen, lambda job: pause(writes, job, who, now, reason, ends[job.name]))
        if options.output == "json":
            answer({"jobs": [each.json for each in done]})
        else:
            show(done)
        return int(any(each.failed for each in done))

    return read(work)


async def pause(
    writes: Writes, job: Job, who: str, now: datetime, reason: str, until: datetime | None
) -> tuple[str, str]:
    """Pauses one job: the note that it has now, and what to know besides. Raises ServerError."""
    from activities.contract import ResumeOrder
    from activities.note import paused_at
    from activities.occurrence import stamp
    from schedules.notes import pause_note, resumed_note
    from schedules.operating.nobody import nobody_there

    note = pause_note(who, now, reason, until, paused_at(job.note) if job.paused else None)
    warning = f"it was already paused: {job.note}" if job.paused else ""
    observed = await writes.gateway.describe(job.name)
    if until and observed:
        order = ResumeOrder(job.name, note, stamp(until), resumed_note(until))
        await writes.resume_at(observed, order)  # first: a timer for a pause that fails to come does nothing
        if missing := await nobody_there(writes.client, observed.action):
            warning = f"{missing}; it stays paused until one does"
    else:
        await writes.forget_resume(job.name)
    await writes.pause(job.name, note)
    return note, warning


def _until(job: Job, text: str | None, now: datetime) -> datetime | None:
    from datetime import timedelta

    from schedules.errors import SettingsError
    from schedules.times.moment import parse_instant

    if text is None:
        return None
    until = parse_instant(text, now, timezone=job.times.timezone, ahead=True, option="--until")
    until += timedelta(microseconds=-until.microsecond)
    if until <= now:
        raise SettingsError(f"--until {text} has passed; write a later time, or a duration such as 2h")
    return until
