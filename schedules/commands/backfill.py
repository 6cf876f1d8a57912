"""`python -m schedules backfill JOB --from T --to T`: runs occurrences of the past, as a workflow that outlives this command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedules.commands.options.operating import AT_ONCE, WRITES
from schedules.commands.options.reading import output_option, read
from schedules.console.terminal import say
from schedules.ledger.selection import the_job

if TYPE_CHECKING:
    import argparse
    from asyncio import Event
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from schedules.ledger.facts import Job
    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.records import Records
    from schedules.operating.backfills import Backfills

RECENT = 20
WITHOUT_YES = 100
"""More occurrences need --yes."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Run past occurrences of a job under their own ids, one after another (with overlap allow_all, five at a time). "
        "The backfill is a workflow: it goes on when this command ends, and Ctrl-C only stops watching."
    )
    parser.add_argument("job", metavar="JOB", help="name of a job")
    parser.add_argument(
        "--from",
        dest="begin",
        metavar="T",
        help="first time: a local time of the job, a time with an offset, or 7d for 7 days ago",
    )
    parser.add_argument("--to", dest="end", metavar="T", help="last time (default: now)")
    parser.add_argument("--missing", action="store_true", help="run only occurrences without a success")
    parser.add_argument(
        "--again",
        action="store_true",
        help="run occurrences again that succeeded, with new idempotency keys, so that their effects are done again",
    )
    parser.add_argument("--max-rate", metavar="N/m", help="start at most N a minute (or N/s, N/h)")
    parser.add_argument("--dry-run", action="store_true", help="show what would run, and start nothing")
    parser.add_argument("--yes", action="store_true", help=f"allow more than {WITHOUT_YES} occurrences")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the end")
    parser.add_argument("--watch", action="store_true", help="show the progress of a backfill that is running")
    parser.add_argument(
        "--cancel", action="store_true", help="end the backfill that is running: no more starts, and what runs goes on"
    )
    output_option(parser)
    parser.epilog = f"{WRITES} With --watch: 0 all succeeded; 1 otherwise, or if you stop watching."
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    from schedules.operating.max_rate import seconds_between

    _check(options)
    interval = seconds_between(options.max_rate)

    async def work(records: Records, now: datetime) -> int:
        from schedules.commands.backfill_answers import said, show_end
        from schedules.console.signals import stop_on_signals
        from schedules.operating.backfills import Backfills, BusyError

        backfills = Backfills(records.client)
        job = await the_job(records, options.job)
        stop, _ = stop_on_signals(AT_ONCE)
        if options.cancel:
            ended = await backfills.cancel(job.name)
            later = "" if ended else " as soon as a worker has read this (see --watch)"
            result = "cancelled" if ended else "cancelling"
            text = f"{job.name}: nothing more starts{later}; what runs goes on"
            return said(options, {"job": job.name, "result": result}, text)
        if options.watch:
            return await _watched(options, backfills, job, stop)
        if not options.dry_run and await backfills.goes_on(job.name):
            if options.no_wait:
                raise BusyError(job.name)
            say(f"a backfill of `{job.name}` is still running; when it has ended, the rest is planned")
            followed = await backfills.follow(job.name, say, stop)
            if followed.status == "running":
                return show_end(options, job, followed)
        return await _backfill(options, records, backfills, job, now, interval, stop)

    return read(work)


def _check(options: argparse.Namespace) -> None:
    """Raises SettingsError for options that say nothing together."""
    from schedules.errors import SettingsError

    if options.watch and options.cancel:
        raise SettingsError("--watch and --cancel exclude each other; write one of them")
    if (options.watch or options.cancel) and (options.begin or options.end or options.missing or options.again):
        raise SettingsError(
            "--watch and --cancel concern the backfill that is running; leave out --from, --to and other options"
        )
    if not (options.watch or options.cancel or options.begin):
        raise SettingsError("--from is missing; write for example --from 2027-03-01, or --from 7d")
    if options.missing and options.again:
        raise SettingsError(
            "--missing leaves out occurrences that succeeded, and --again runs them again; write one of them"
        )


async def _backfill(
    options: argparse.Namespace,
    records: Records,
    backfills: Backfills,
    job: Job,
    now: datetime,
    interval: float,
    stop: Event,
) -> int:
    from activities.account.facts import NEVER
    from activities.occurrence import stamp
    from schedules.commands.backfill_answers import said, show_plan, tell_plan
    from schedules.errors import SettingsError
    from schedules.operating.backfill_request import request_for
    from schedules.operating.holes import holes
    from schedules.operating.missing_worker import missing_worker
    from schedules.operating.span import accounts, settled
    from schedules.server.gateway import TemporalGateway

    begin, end = _span(options, job, now)
    occurrences = await (accounts if options.dry_run else settled)(records, job, begin, end, now)
    kept_since = now - job.retention if job.retention else NEVER
    found = holes(occurrences, again=options.again, missing=options.missing, kept_since=kept_since)
    took = await _estimate(records, job, occurrences, len(found.run), now, interval)
    tell_plan(found, job, took)
    if options.dry_run:
        return show_plan(options, job, found, took)
    if found.succeeded and not (options.missing or options.again):
        raise SettingsError(
            f"{len(found.succeeded)} of these occurrences have already succeeded; nothing was started. Add --missing to leave them out, or "
            "--again to run them again with new idempotency keys"
        )
    if not found.run:
        return show_plan(options, job, found, None)
    if len(found.run) > WITHOUT_YES and not options.yes:
        raise SettingsError(f"{len(found.run):,} occurrences would run; nothing was started. Add --yes to run them")
    observed = await TemporalGateway(records.client).describe(job.name)
    _check_rerun(observed, job, again=options.again)
    if observed is not None:
        rerun = stamp(now) if options.again else ""
        await backfills.start(observed, request_for(job, found.times, interval=interval, rerun=rerun))
        if missing := await missing_worker(records.client, observed.action):
            say(f"{missing}; nothing runs until one does")
    if options.no_wait:
        return said(
            options,
            {"job": job.name, "result": "started", "occurrences": found.times},
            f"started; follow it with `tickwright backfill {job.name} --watch`",
        )
    return await _watched(options, backfills, job, stop)


def _check_rerun(observed: Any, job: Job, *, again: bool) -> None:
    from schedules.errors import SettingsError
    from schedules.ledger.translate import job_request

    if again and observed is not None and job_request(observed) is None:
        raise SettingsError(
            f"`{job.name}` starts its own workflow (direct), for which --again does not work; leave it out"
        )


def _span(options: argparse.Namespace, job: Job, now: datetime) -> tuple[datetime, datetime]:
    from schedules.errors import SettingsError
    from schedules.times.moment import parse_instant

    zone = job.times.timezone
    begin = parse_instant(options.begin, now, timezone=zone, option="--from")
    end = parse_instant(options.end, now, timezone=zone, option="--to") if options.end else now
    if begin > end:
        raise SettingsError(f"--from {options.begin} is after --to {options.end or 'now'}; write an earlier time")
    return begin, min(end, now)


async def _estimate(
    records: Records, job: Job, occurrences: Sequence[Occurrence], count: int, now: datetime, interval: float
) -> timedelta | None:
    """By the runs of the span, or by the newest ones where it has none."""
    from schedules.ledger.account import last_times
    from schedules.operating.holes import estimate

    side_by_side = job.overlap == "allow_all"
    runs = [each.run for each in occurrences if each.run]
    took = estimate(runs, count, interval, side_by_side=side_by_side)
    if took is None and (times := last_times(job, RECENT, now)):
        recent = await records.runs_of(job, times[-1], now, RECENT)
        took = estimate(recent.runs, count, interval, side_by_side=side_by_side)
    return took


async def _watched(options: argparse.Namespace, backfills: Backfills, job: Job, stop: Event) -> int:
    from schedules.commands.backfill_answers import show_end

    return show_end(options, job, await backfills.follow(job.name, say, stop))
