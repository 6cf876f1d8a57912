"""`python -m schedules forecast [PATH…]`: what will start, and what a maintenance window would delay or lose."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from schedules.commands.options.reading import answer, output_option, read
from schedules.commands.options.selection import selected, selection_options
from schedules.errors import SettingsError
from schedules.ledger.selection import check_found

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.ledger.forecast import Forecast, Planned
    from schedules.ledger.records import Records
    from schedules.ledger.selection import Selection

MOST_DESCRIBED = 1_000
"""Jobs whose policies are read one by one; of more the effect of a window is not told."""
LONGEST = timedelta(days=35)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Show what starts from T on, minute by minute, and what would run late or never if nothing could start until the end."
    selection_options(parser)
    parser.add_argument(
        "--at",
        metavar="T",
        help="begin: a time in UTC unless it has an offset, or 2h for two hours from now (default: now)",
    )
    parser.add_argument("--for", dest="span", default="4h", metavar="D", help="length, at most 35d (default: 4h)")
    output_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    span = _span(options.span)
    meant = selected(options)

    async def work(records: Records, now: datetime) -> int:
        from schedules.ledger.forecast import forecast
        from schedules.ledger.status import still_to_come
        from schedules.times.moment import parse_instant

        start = parse_instant(options.at, now, ahead=True, option="--at") if options.at else now
        jobs = await planned(records, meant, start, start + span)
        absent = sorted((meant.jobs or {}).keys() - {job.name for job in jobs})
        missing = [name for name in absent if meant.takes(name) and still_to_come(meant, name, now)]
        _show(forecast(jobs, start, start + span), missing, options.output)
        return 0

    return read(work)


async def planned(records: Records, meant: Selection, start: datetime, end: datetime) -> list[Planned]:
    """The jobs that are meant, those that start in the span with their policies. Raises ServerError."""
    from schedules.cron.occurrences import next_after
    from schedules.ledger.overview import known_times
    from schedules.ledger.records import gathered

    every = await records.jobs(meant.owner)
    check_found(meant, every, every or await records.jobs(None))
    listed = known_times([job for job in every if meant.takes(job.name)], meant.times)
    second = timedelta(seconds=1)

    def starts(job: Job) -> bool:
        at = next_after(job.times, start - second)
        return not job.exact or (at is not None and at < end)

    close = [job.name for job in listed if starts(job)][:MOST_DESCRIBED]
    described = {job.name: job for job in await gathered(records.job, close) if job is not None}
    return [_planned(described.get(job.name, job)) for job in listed]


def _planned(job: Job) -> Planned:
    from activities.note import paused_until
    from schedules.ledger.forecast import Planned

    resumes_at = paused_until(job.note) if job.paused else None
    return Planned(job.name, job.times, job.paused, job.overlap, job.window, job.catchup, resumes_at)


def _span(text: str) -> timedelta:
    from schedules.text.duration import parse_duration

    try:
        span = parse_duration(text)
    except ValueError as error:
        raise SettingsError(f"--for {error}") from None
    if not timedelta(0) < span <= LONGEST:
        raise SettingsError(f"--for {text}: write a duration up to {LONGEST.days}d")
    return span


def _show(found: Forecast, missing: list[str], output: str) -> None:
    from schedules.console.table import console, cut, table
    from schedules.views.forecast import COLUMNS, forecast_json, remarks, rows

    if output == "json":
        answer({**forecast_json(found), "missing": missing})
        return
    screen = console()
    shown, more = cut(list(rows(found)))
    if shown:
        screen.print(table(COLUMNS, shown))
    for remark in [*([more] if more else []), *remarks(found)]:
        screen.print(remark, soft_wrap=True)
    if missing:
        screen.print(f"not counted, because they have no schedule: {', '.join(missing)}", soft_wrap=True)
