"""`python -m schedules trigger JOB`: runs a job now, or one of its occurrences."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from activities.overlap import OVERLAPS
from schedules.commands.options.operating import AT_ONCE, WRITES
from schedules.commands.options.reading import answer, output_option, read
from schedules.console.terminal import STDOUT, say
from schedules.ledger.selection import the_job

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from schedules.ledger.records import Records


LONGEST_REASON = 1_000
FINE = frozenset({"started", "waiting"})


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Run a job now; or with --scheduled-at the occurrence of that time, under its own id."
    parser.add_argument("job", metavar="JOB", help="name of a job")
    parser.add_argument(
        "--scheduled-at",
        metavar="T",
        help="a past scheduled time of the job: local time, time with an offset, or the id of an occurrence",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="run the occurrence although it succeeded, with a new idempotency key, so that its effects are done again",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a parameter for this run alone, with a new idempotency key: handler.parameter=value, such as http.json.customer=42; "
        "in a job of several steps, step.handler.parameter=value; may be repeated",
    )
    parser.add_argument(
        "--overlap",
        choices=OVERLAPS,
        metavar="POLICY",
        help=f"overlap policy of this run: {', '.join(OVERLAPS)} (default: the job's own); not with --scheduled-at or --set",
    )
    parser.add_argument("--wait", action="store_true", help="follow the run to its end: 0 if it succeeded, 1 otherwise")
    output_option(parser)
    parser.epilog = WRITES
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    from schedules.operating.triggered import TriggerRequest

    _check(options)
    request = TriggerRequest(
        options.scheduled_at or "", options.again, tuple(options.set), options.overlap, options.wait
    )

    async def work(records: Records, now: datetime) -> int:
        from schedules.console.signals import stop_on_signals
        from schedules.console.table import one_line
        from schedules.operating.occurrence_run import run_occurrence
        from schedules.operating.trigger_now import trigger_now

        job = await the_job(records, options.job)
        stop, _ = stop_on_signals(AT_ONCE)
        if options.scheduled_at or options.set:
            done = await run_occurrence(records, job, now, request, say, stop)
        else:
            done = await trigger_now(records, job, request, say, stop)
        if options.output == "json":
            answer(asdict(done))
        else:
            reason = f": {one_line(done.reason, LONGEST_REASON)}" if done.reason else ""
            STDOUT.answer(f"{done.workflow_id} {done.result}{reason}\n")
        well = done.result == "succeeded" if options.wait else done.result in FINE
        return 0 if well else 1

    return read(work)


def _check(options: argparse.Namespace) -> None:
    """Raises SettingsError for options that say nothing together."""
    from schedules.errors import SettingsError

    if options.again and not options.scheduled_at:
        raise SettingsError("--again repeats one occurrence; write which one with --scheduled-at T")
    if options.overlap and (options.scheduled_at or options.set):
        raise SettingsError(
            "--overlap: with --scheduled-at or --set, the run waits for what is running; leave --overlap out"
        )
