"""Options that the commands share which do something to jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

WRITES = "Exit codes: 0 done; 1 something failed or was not started; 2 the command line is wrong, and nothing was done."

AT_ONCE = "interrupted; what was in progress may be done or not: see `tickwright status`"
"""What a second signal ends a command with; after the first one it finishes what it has begun."""


def job_words(parser: argparse.ArgumentParser) -> None:
    """Names or globs of jobs."""
    parser.add_argument(
        "jobs", nargs="+", metavar="JOB", help="name of a job, or a glob such as 'billing-*' (in quotes)"
    )


def reason_option(parser: argparse.ArgumentParser) -> None:
    """`--reason`, which becomes part of the schedule's note."""
    parser.add_argument("--reason", default="", metavar="TEXT", help="reason that `status` and the Web UI show")
