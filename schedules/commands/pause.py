"""`python -m schedules pause JOB…`: no starts until somebody resumes it, or until a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.commands.options.on_jobs import on_each_job
from schedules.commands.options.operating import WRITES, job_words, reason_option
from schedules.commands.options.reading import output_option

if TYPE_CHECKING:
    import argparse

    from schedules.ledger.facts import Job
    from schedules.operating.each import Apply, Operator


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
    from schedules.operating.pause import pause, pause_end

    def plan(operator: Operator, job: Job) -> Apply:
        end = pause_end(job, options.until, operator.now)
        return lambda: pause(operator.writes, job, operator.who, operator.now, operator.reason, end)

    return on_each_job(options, plan)
