"""`python -m schedules logs JOB [TIME]`: what the steps of an occurrence put out, also while they run."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from schedules.commands.options.reading import answer, output_option, read
from schedules.console.terminal import STDOUT, say
from schedules.errors import SettingsError
from schedules.ledger.explain import story
from schedules.ledger.selection import asked_for, job_or_its_past

if TYPE_CHECKING:
    import argparse

    from activities.account.facts import Run
    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.ledger.story import StepStory

FOLLOW_SECONDS = 2.0
NEWEST = 20
"""Runs that are read to find the newest."""
LONG_AGO = timedelta(days=3660)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Show the output of each step of a run: stdout and stderr of a command, the answer to a request, the log lines "
        "of a function. Attempts that failed are shown, too, and a run in progress."
    )
    parser.add_argument("job", metavar="JOB", help="name of a job")
    parser.add_argument(
        "time",
        metavar="TIME",
        nargs="?",
        default="",
        help="local time of the job, a time with an offset, the id of an occurrence, or last-failed (default: the newest run)",
    )
    parser.add_argument("--step", default="", metavar="S", help="show only this step")
    parser.add_argument("--follow", "-f", action="store_true", help="show new lines until the run has ended")
    output_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    if options.follow and options.output == "json":
        raise SettingsError("--follow does not go with --output json; leave one of them out")

    async def work(records: Records, now: datetime) -> int:
        job = await job_or_its_past(records, options.job, now)
        run = await _run(records, job, options.time, now)
        if options.output == "json":
            from schedules.views.logs import logs_json

            answer(logs_json(job.name, run, await _steps(records, run, options.step)))
        else:
            await _show(records, run, options.step, follow=options.follow)
        return 0

    return read(work)


async def _show(records: Records, run: Run, step: str, *, follow: bool) -> None:
    from schedules.views.logs import LogText

    say(f"{run.id} ({run.verdict})")
    text = LogText()
    while True:
        STDOUT.answer(text.new(await _steps(records, run, step)))
        if not follow or run.closed_at is not None:
            return
        await asyncio.sleep(FOLLOW_SECONDS)
        found = await records.runs(f"WorkflowId = '{_quoted(run.id)}' AND RunId = '{run.run_id}'")
        run = next(iter(found.runs), run)


async def _steps(records: Records, run: Run, only: str) -> list[StepStory]:
    """Raises SettingsError for a step that has not begun."""
    from schedules.text.nearest import suggestion
    from schedules.views.logs import step_names, steps_of

    told = await story(records, run)
    steps = steps_of(told, only)
    if only and not steps and run.closed_at is not None:
        raise SettingsError(f"--step {only}: {suggestion(only, step_names(told), 'steps that ran')}")
    return steps


async def _run(records: Records, job: Job, time: str, now: datetime) -> Run:
    """The newest run of the occurrence, or of the job. Raises SettingsError where there is none."""
    if not time:
        found = await records.runs_of(job, now - LONG_AGO, now + timedelta(days=1), NEWEST)
        if not found.runs:
            raise SettingsError(f"the namespace keeps no run of `{job.name}`; see `tickwright explain {job.name} TIME`")
        return max(found.runs, key=lambda run: (run.scheduled_at, run.started_at))
    from schedules.ledger.due import due

    at = due(job.times, await asked_for(records, job, time, now)).at
    found = await records.runs_of(job, at, at)
    if not found.runs:
        raise SettingsError(
            f"nothing ran at {at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}; see `tickwright explain {job.name} {time}`"
        )
    return max(found.runs, key=lambda run: run.started_at)


def _quoted(text: str) -> str:
    return text.replace("'", "''")
