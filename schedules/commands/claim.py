"""`tickwright claim JOB -- command…`: for the old crontab line, so that each occurrence runs once while both sides are live."""

from __future__ import annotations

import argparse
import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedules.console.terminal import say
from schedules.errors import SettingsError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedules.console.passing import Passed

FAILED = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Run a command as one occurrence of a job, unless the job's schedule or another machine has already started it. "
        "Temporal's history keeps the run with its outcome, its duration and the end of its output."
    )
    parser.epilog = (
        "Exit codes: that of the command if it ran; 0 if the occurrence has already started elsewhere; 1 if Temporal does not answer "
        "and --if-unreachable is skip; 2 wrong call."
    )
    parser.add_argument("job", metavar="JOB", help="name of a job that a sync has created, in shadow mode or live")
    parser.add_argument("--at", metavar="T", help="scheduled time of the occurrence (default: the newest one)")
    parser.add_argument(
        "--if-unreachable",
        choices=["skip", "run"],
        default="skip",
        help="if Temporal does not answer: skip leaves the occurrence to the job's catchup policy; run runs the command, and the schedule may run it again",
    )
    parser.add_argument("--no-output", action="store_true", help="keep the command's output out of the history")
    parser.add_argument(
        "--quiet", action="store_true", help="print nothing if the occurrence has already started elsewhere"
    )
    parser.usage = (
        f"{parser.prog} [-h] [--at T] [--if-unreachable {{skip,run}}]\n"
        f"{' ' * len(f'usage: {parser.prog}')} [--no-output] [--quiet] JOB -- COMMAND…"
    )
    parser.set_defaults(execute=execute, command=[])
    known = parser.parse_known_args

    def until_two_dashes(words: Sequence[str], namespace: argparse.Namespace) -> tuple[argparse.Namespace, list[str]]:
        """What stands behind `--` is the command, whatever it looks like: argparse alone would take options of ours for it."""
        own = list(words[: words.index("--")]) if "--" in words else list(words)
        options, rest = known(own, namespace)
        options.command = list(words[len(own) + 1 :])
        return options, rest

    parser.parse_known_args = until_two_dashes  # type: ignore[method-assign,assignment]  # as this command alone is called


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises SettingsError."""
    import gc

    if not options.command:
        raise SettingsError("write the command behind --, for example: claim invoice-dunning -- ./dunning.sh --all")
    code = asyncio.run(_run(options, options.command))
    gc.collect()
    return code


async def _run(options: argparse.Namespace, command: Sequence[str]) -> int:
    from activities.contract import ClaimEnding
    from schedules.operating.claim import claimed, keep_alive, record
    from schedules.server.connection import connect

    try:
        client = await connect()
        run = await claimed(client, options.job, options.at, datetime.now(UTC))
    except UnreachableError as error:
        return await _unreachable(options, command, error)
    if isinstance(run, str):
        if not options.quiet:
            say(f"{run} has already started elsewhere; nothing was run")
        return 0
    cancelled = asyncio.Event()
    watching = asyncio.ensure_future(keep_alive(run))
    watching.add_done_callback(lambda task: None if task.cancelled() else cancelled.set())
    done = await _passed(command, cancelled)
    watching.cancel()
    output = ("", "") if options.no_output else (done.stdout, done.stderr)
    if not await record(run, ClaimEnding(done.exit_code, *output, done.duration)):
        say(f"{run.id}: the command ended, but Temporal could not record it")
    return _code(done)


async def _unreachable(options: argparse.Namespace, command: Sequence[str], error: UnreachableError) -> int:
    if options.if_unreachable == "skip":
        say(
            f"{error}; the command was not run (--if-unreachable skip), and the job's catchup policy decides about this occurrence"
        )
        return FAILED
    say(f"{error}; running the command anyway (--if-unreachable run)")
    return _code(await _passed(command, asyncio.Event()))


async def _passed(command: Sequence[str], stop: asyncio.Event) -> Passed:
    from schedules.console.passing import Passed, pass_through

    try:
        return await pass_through(command, stop)
    except OSError as error:
        message = f"{command[0]}: {error.strerror}"
        say(message)
        return Passed(127, "", message, 0.0)


def _code(done: Passed) -> int:
    return done.exit_code if done.exit_code >= 0 else 128 - done.exit_code
