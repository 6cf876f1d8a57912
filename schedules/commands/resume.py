"""`python -m schedules resume JOB…`: ends a pause, and if asked makes up for what it kept from running."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.commands.operating_options import AT_ONCE, WRITES, job_words, reason_option
from schedules.commands.options import at_least
from schedules.commands.reading import answer, output_option, read

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.operating.writes import Writes


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Ends pauses. What was due meanwhile does not run, unless --catchup says so."
    job_words(parser)
    reason_option(parser)
    parser.add_argument(
        "--catchup",
        choices=["skip", "run_latest", "run_all"],
        default="skip",
        help="what becomes of the times of the pause: none runs, the newest, or all, oldest first (default: skip)",
    )
    parser.add_argument("--max", type=at_least(1), metavar="N", help="with run_all: only the newest N")
    output_option(parser)
    parser.epilog = WRITES
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    from schedules.errors import SettingsError

    if options.max is not None and options.catchup != "run_all":
        raise SettingsError("--max belongs to --catchup run_all; add that, or leave --max out")

    async def work(records: Records, now: datetime) -> int:
        from schedules.console.interrupt import stop_on_signals
        from schedules.notes import checked_reason, resume_note
        from schedules.operating.chosen import chosen_jobs
        from schedules.operating.each import each_job, show
        from schedules.operating.writes import Writes
        from schedules.sync.audit import audit_of

        note = resume_note(audit_of(()).who, now, checked_reason(options.reason))
        jobs = await chosen_jobs(records, options.jobs)
        most = {"skip": 0, "run_latest": 1, "run_all": options.max}[options.catchup]
        kept = {job.name: await _kept_back(records, job, now, most) for job in jobs if job.paused and most != 0}
        writes = Writes(records.client)
        stop_on_signals(AT_ONCE)
        done = await each_job(jobs, lambda job: resume(writes, job, note, kept.get(job.name, [])))
        if options.output == "json":
            answer({"jobs": [{**each.json, "backfilled": kept.get(each.job, [])} for each in done]})
        else:
            show(done)
        return int(any(each.failed for each in done))

    return read(work)


async def resume(writes: Writes, job: Job, note: str, times: list[str]) -> tuple[str, str]:
    """Ends the pause of one job and starts a backfill of the times: its note now, and what to know besides. Raises ServerError."""
    from schedules.operating.backfills import Backfills
    from schedules.operating.order import request_for

    await writes.forget_resume(job.name)
    if not job.paused:
        return job.note, "it was not paused"
    await writes.unpause(job.name, note)
    if not times:
        return note, ""
    observed = await writes.gateway.describe(job.name)
    if observed is not None:
        await Backfills(writes.client).start(observed, request_for(job, times))
    return note, f"{len(times)} of the pause run now; follow them by `backfill {job.name} --watch`"


async def _kept_back(records: Records, job: Job, now: datetime, most: int | None) -> list[str]:
    """The times of the pause without a success, the newest `most` of them, oldest first. Raises SettingsError."""
    from schedules.operating.backfills import Backfills, BusyError
    from schedules.operating.holes import holes
    from schedules.operating.span import accounts

    if await Backfills(records.client).goes_on(job.name):
        raise BusyError(job.name)
    since = await _paused_since(records, job, now)
    found = holes((await accounts(records, job, since, now, now)), missing=True)
    return found.times if most is None else found.times[-most:]


async def _paused_since(records: Records, job: Job, now: datetime) -> datetime:
    """When the pause of now began. Raises SettingsError where nothing tells."""
    from activities.note import paused_at
    from schedules.errors import SettingsError

    record = await records.record(job.name, now, now)
    pause = record.pause_at(now) if record else None
    since = pause.at if pause and pause.kind != "known" else paused_at(job.note)
    if since is None:
        raise SettingsError(
            f"since when `{job.name}` is paused is not known any more; nothing was done. Resume it without --catchup, and then "
            f"`backfill {job.name} --missing --from T`"
        )
    return since
