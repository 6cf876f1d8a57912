"""What the commands that read a namespace share: its connection, the job that is meant, and their answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

from schedules.console.terminal import STDOUT
from schedules.errors import SettingsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records

EPILOG = "Exit codes: 0 shown; 1 the server cannot be reached or refused; 2 the command line or a spec is wrong."


def output_option(parser: argparse.ArgumentParser) -> None:
    """`--output`, and what the exit codes mean."""
    parser.epilog = EPILOG
    parser.add_argument("--output", choices=["text", "json"], default="text", help="json: one document on stdout")


def owner_option(parser: argparse.ArgumentParser) -> None:
    """`--owner`, for commands about many jobs."""
    parser.add_argument("--owner", metavar="P/E", help="project/environment (default: every one in the namespace)")


def read(work: Callable[[Records, datetime], Awaitable[int]]) -> int:
    """Connects and does the work; its exit code. Raises TickwrightError."""
    import asyncio
    import gc

    code = asyncio.run(_connected(work))
    gc.collect()
    return code


async def _connected(work: Callable[[Records, datetime], Awaitable[int]]) -> int:
    from schedules.ledger.records import Records
    from schedules.server.connection import connect

    return await work(Records(await connect()), datetime.now(UTC))


async def the_job(records: Records, name: str) -> Job:
    """The job of that name. Raises SettingsError with near names where there is none."""
    from schedules.text.nearest import suggestion

    job = await records.job(name)
    if job is None:
        names = sorted(job.name for job in await records.jobs(None))
        raise SettingsError(f"there is no job `{name}` in the namespace; {suggestion(name, names, 'jobs')}")
    return job


async def job_or_its_past(records: Records, name: str, now: datetime) -> Job:
    """The job, also one that was deleted and of which runs are kept, which is said. Raises SettingsError as `the_job`."""
    from schedules.console.terminal import say
    from schedules.ledger.deleted import deleted_job

    job = await records.job(name)
    if job is not None:
        return job
    gone = await deleted_job(records, name, now)
    if gone is None:
        return await the_job(records, name)
    say(f"`{name}` has no schedule any more: this is told by the runs that the namespace keeps")
    return gone


def verdicts(text: str) -> Sequence[str]:
    """An option's comma-separated outcomes. Raises SettingsError with the known ones."""
    from schedules.ledger.facts import Verdict
    from schedules.text.nearest import suggestion

    known = get_args(Verdict)
    given = [word.strip() for word in text.split(",") if word.strip()]
    if wrong := next((word for word in given if word not in known), None):
        raise SettingsError(f"--outcome {wrong}: {suggestion(wrong, known, 'outcomes')}")
    return given


def answer(document: Any) -> None:
    """One JSON document on standard output."""
    STDOUT.answer(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
