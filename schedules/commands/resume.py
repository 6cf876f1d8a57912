"""`python -m schedules resume JOB…`: ends a pause, and if asked makes up for what it kept from running."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.commands.options.on_jobs import on_each_job
from schedules.commands.options.operating import WRITES, job_words, reason_option
from schedules.commands.options.reading import output_option
from schedules.commands.options.specs import at_least

if TYPE_CHECKING:
    import argparse

    from schedules.ledger.facts import Job
    from schedules.operating.each import Apply, Operator


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "End a pause. What was due during the pause does not run, unless you write --catchup."
    job_words(parser)
    reason_option(parser)
    parser.add_argument(
        "--catchup",
        choices=["skip", "run_latest", "run_all"],
        default="skip",
        help="times of the pause to run: none, the newest, or all, oldest first (default: skip)",
    )
    parser.add_argument("--max", type=at_least(1), metavar="N", help="with run_all: run only the newest N")
    output_option(parser)
    parser.epilog = WRITES
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    from schedules.errors import SettingsError

    if options.max is not None and options.catchup != "run_all":
        raise SettingsError("--max goes with --catchup run_all; add that, or leave --max out")

    from schedules.operating.make_up import resume

    most = 1 if options.catchup == "run_latest" else options.max
    catchup = "" if options.catchup == "skip" else options.catchup
    wish = f"{catchup} --max {most}" if options.max else catchup
    made_up: dict[str, list[str]] = {}

    def plan(operator: Operator, job: Job) -> Apply:
        async def apply() -> tuple[str, str]:
            note, warning, made_up[job.name] = await resume(
                operator.records, operator.writes, job, operator.who, operator.reason, wish, most
            )
            return note, warning

        return apply

    return on_each_job(options, plan, lambda job: {"backfilled": made_up.get(job, [])})
