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
        "Runs a command as one occurrence of a job, if neither the job's schedule nor anybody else has started that occurrence. "
        "The run is in Temporal's history with its outcome, duration and the end of its output."
    )
    parser.epilog = (
        "Exit codes: that of the command if it was run; 0 if the occurrence is somebody else's; 1 if Temporal is away and "
        "--if-unreachable is skip; 2 wrong call."
    )
    parser.add_argument("job", metavar="JOB", help="name of a job that a sync has made, in shadow mode or live")
    parser.add_argument("--at", metavar="T", help="its scheduled time (default: the newest one)")
    parser.add_argument(
        "--if-unreachable",
        choices=["skip", "run"],
        default="skip",
        help="what to do if Temporal does not answer: skip, and the job's catch-up decides; or run, and it may run twice",
    )
    parser.add_argument("--no-output", action="store_true", help="keep the command's output out of the history")
    parser.add_argument("--quiet", action="store_true", help="say nothing where the occurrence is somebody else's")
    parser.usage = (
        f"{parser.prog} [-h] [--at T] [--if-unreachable {{skip,run}}] [--no-output] [--quiet] JOB -- COMMAND…"
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
            say(f"{run} is somebody else's; nothing was run")
        return 0
    cancelled = asyncio.Event()
    watching = asyncio.ensure_future(keep_alive(run))
    watching.add_done_callback(lambda task: None if task.cancelled() else cancelled.set())
    done = await _passed(command, cancelled)
    watching.cancel()
    output = ("", "") if options.no_output else (done.stdout, done.stderr)
    if not await record(run, ClaimEnding(done.exit_code, *output, done.duration)):
        say(f"{run.id}: the command ended, and Temporal did not take note of it")
    return _code(done)


async def _unreachable(options: argparse.Namespace, command: Sequence[str], error: UnreachableError) -> int:
    if options.if_unreachable == "skip":
        say(
            f"{error}; the command was not run (--if-unreachable skip): the job's catch-up decides about this occurrence"
        )
        return FAILED
    say(f"{error}; the command is run all the same (--if-unreachable run)")
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
