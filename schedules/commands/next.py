"""`python -m schedules next JOB [PATH…]` and `next --cron EXPR`: the next times at which a schedule fires, offline."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.commands.options.specs import given_registry, project_options
from schedules.console.terminal import STDOUT
from schedules.errors import SettingsError

if TYPE_CHECKING:
    import argparse

    from schedules.times.asked import Asked

HERE = "."
DEFAULT_COUNT = 10
MOST = 100_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Show the next times of a job of your spec files, or of a cron expression. Exit codes: 0 shown; 2 wrong."
    )
    parser.add_argument("job", nargs="?", metavar="JOB", help="name of a job")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="spec file, folder or module (default: this folder)")
    project_options(parser)
    parser.add_argument("--cron", metavar="EXPR", help="a cron expression, instead of a job")
    parser.add_argument("--dialect", metavar="D", help="cron (default), quartz, spring, kubernetes, eventbridge, …")
    parser.add_argument("--timezone", metavar="TZ", help="time zone of the expression (default: UTC)")
    parser.add_argument(
        "--dst-gap", choices=["run_after", "shift", "skip"], help="what to do with a local time that does not exist"
    )
    parser.add_argument(
        "--dst-repeat", choices=["first", "second", "both"], help="which pass of a local time that happens twice"
    )
    parser.add_argument(
        "--from",
        dest="start",
        metavar="ISO",
        help="show times after this one; local unless it has an offset (default: now)",
    )
    parser.add_argument(
        "--count", type=int, default=DEFAULT_COUNT, metavar="N", help="how many times to show (default: 10)"
    )
    parser.add_argument("--output", choices=["text", "json"], default="text", help="json: one document on stdout")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises SpecError or SettingsError with what is wrong."""
    from schedules.times.upcoming import upcoming

    if not 1 <= options.count <= MOST:
        raise SettingsError(f"--count {options.count}: write a number from 1 to {MOST:,}")
    now = datetime.now(UTC)
    asked = _asked(options, now)
    after = now if options.start is None else _start(options.start, asked.timezone)
    times = list(islice(upcoming(asked.compile_at, after), options.count))
    if options.output == "json":
        found = {"occurrences": [stamp(each) for each in times]}
        STDOUT.answer(json.dumps(found, indent=2) + "\n")
    else:
        from schedules.views.next import next_text

        print(next_text(asked, times, after))
    return 0


def _asked(options: argparse.Namespace, now: datetime) -> Asked:
    of_expression = {"--dialect": options.dialect, "--timezone": options.timezone}
    of_expression |= {"--dst-gap": options.dst_gap, "--dst-repeat": options.dst_repeat}
    if (options.cron is None) == (options.job is None):
        raise SettingsError("write either a JOB or --cron EXPR, for example: next --cron '0 8 * * 1-5'")
    if options.cron is not None:
        from schedules.times.asked import asked_expression

        return asked_expression(
            options.cron,
            dialect=options.dialect or "cron",
            timezone=options.timezone or "UTC",
            gap=options.dst_gap or "run_after",
            repeat=options.dst_repeat or "first",
            now=now,
        )
    if given := [name for name, value in of_expression.items() if value is not None]:
        raise SettingsError(f"{', '.join(given)}: only for --cron; a job has it in its file")
    from schedules.lint.load import load_checked
    from schedules.times.next_job import asked_job

    return asked_job(load_checked(options.paths or [HERE], options.env, given_registry(options), now), options.job)


def _start(text: str, timezone: str) -> datetime:
    from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR

    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise SettingsError(
            f"--from {text}: write a time such as 2027-03-14T00:00, 2027-03-14T00:00Z or 2027-03-14"
        ) from None
    start = given if given.tzinfo else given.replace(tzinfo=ZoneInfo(timezone))
    if (
        not FIRST_YEAR <= start.year <= LAST_YEAR
        or not FIRST_YEAR <= (start := start.astimezone(UTC)).year <= LAST_YEAR
    ):
        raise SettingsError(f"--from {text}: write a time from {FIRST_YEAR}-01-01 to {LAST_YEAR}-12-31, in UTC")
    return start
