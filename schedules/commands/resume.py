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

    async def work(records: Records, _: datetime) -> int:
        from schedules.console.signals import stop_on_signals
        from schedules.notes import checked_reason
        from schedules.operating.chosen import chosen_jobs
        from schedules.operating.each import each_job, show
        from schedules.operating.make_up import resume
        from schedules.operating.writes import Writes
        from schedules.sync.audit import audit_of

        who, reason = audit_of(()).who, checked_reason(options.reason)
        chosen = await chosen_jobs(records, options.jobs)
        most = 1 if options.catchup == "run_latest" else options.max
        catchup = "" if options.catchup == "skip" else options.catchup
        wish = f"{catchup} --max {most}" if options.max else catchup
        writes, made_up = Writes(records.client), dict[str, list[str]]()
        stop_on_signals(AT_ONCE)

        async def one(job: Job) -> tuple[str, str]:
            note, warning, made_up[job.name] = await resume(records, writes, job, who, reason, wish, most)
            return note, warning

        done = await each_job(chosen, one)
        if options.output == "json":
            answer({"jobs": [{**each.json, "backfilled": made_up.get(each.job, [])} for each in done]})
        else:
            show(done)
        return int(any(each.failed for each in done))

    return read(work)
