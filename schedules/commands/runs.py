"""`python -m schedules runs JOB`: a job's occurrences, those included that were expected and did not run."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from schedules.commands.options.reading import answer, output_option, read, verdicts
from schedules.commands.options.specs import at_least
from schedules.ledger.selection import job_or_its_past

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from schedules.ledger.account import Account
    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.records import Records

USUAL = 20
DAY = timedelta(days=1)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Show the occurrences of a job, newest last, with those that were expected and did not run."
    parser.add_argument("job", metavar="JOB", help="name of a job")
    parser.add_argument(
        "--since",
        metavar="T",
        help="first time: 24h or 7d ago, or a local time of the job (default: the last 20 times)",
    )
    parser.add_argument("--until", metavar="T", help="last time (default: now)")
    parser.add_argument(
        "--last", type=at_least(1), metavar="N", help=f"without --since: show the last N times (default: {USUAL})"
    )
    parser.add_argument("--outcome", default="", metavar="O,…", help="show only these outcomes")
    output_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    wanted = verdicts(options.outcome)

    async def work(records: Records, now: datetime) -> int:
        found = await _account(records, options, now)
        left_out = set() if options.since else {"before_creation"}
        shown = [each for each in found.occurrences if each.verdict in (wanted or {each.verdict} - left_out)]
        _show(options, found, shown)
        return 0

    return read(work)


async def _account(records: Records, options: argparse.Namespace, now: datetime) -> Account:
    from schedules.errors import SettingsError
    from schedules.ledger.account import account, last_times
    from schedules.times.moment import parse_instant

    job = await job_or_its_past(records, options.job, now)
    zone = job.times.timezone
    until = parse_instant(options.until, now, timezone=zone, option="--until") if options.until else now
    since = parse_instant(options.since, now, timezone=zone, option="--since") if options.since else None
    if since is not None and since > until:
        raise SettingsError(f"--since {options.since} is after --until; write an earlier time")
    if since is None:
        since = min(last_times(job, options.last or USUAL, until), default=until - DAY)
    return await account(records, job, since, until, now)


def _show(options: argparse.Namespace, found: Account, shown: list[Occurrence]) -> None:
    from activities.occurrence import stamp
    from schedules.console.table import console, fitting, table
    from schedules.views.occurrences import COLUMNS, LEAST_FIRST, occurrence_json, occurrence_row

    job = found.job
    if options.output == "json":
        answer(
            {
                "job": job.name,
                "timezone": job.times.timezone,
                "since": stamp(found.since),
                "occurrences": [occurrence_json(each) for each in shown],
            }
        )
        return
    title = f"{job.name}, times of {job.times.timezone}"
    screen, rows = console(), [occurrence_row(each, job.times.timezone) for each in shown]
    used = fitting(COLUMNS, rows, screen.width, LEAST_FIRST)
    screen.print(table(used, rows, title, screen.width))
