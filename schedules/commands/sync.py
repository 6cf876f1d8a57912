"""`python -m schedules.sync PATH…`: makes a Temporal namespace match the spec files."""

from __future__ import annotations

import argparse
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from schedules.commands.options.specs import at_least, given_registry, spec_options
from schedules.console.terminal import run, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.client import Client

    from activities.registry import HandlerRegistry
    from schedules.model import ListedSchedule
    from schedules.sync.options import SyncOptions

FROM_EXAMPLES = "2027-03-01T06:30Z, or 2h for so long from now"
EPILOG = """\
Exit codes: 0 done or in sync; 1 something failed or was refused; 2 the spec, a setting or the command line is wrong;
3 --check found changes; 130 and 143 interrupted.
Each write is logged on standard error with who, when and the git commit of the specs.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Make the Temporal schedules of a project match its spec files."
    parser.epilog = EPILOG
    spec_options(parser)
    look = parser.add_mutually_exclusive_group()
    look.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")
    look.add_argument("--check", action="store_true", help="like --dry-run, and exit with 3 if anything would change")
    look.add_argument(
        "--plan-out", metavar="F", help="like --dry-run, and write the plan to the file F for --apply-plan"
    )
    look.add_argument(
        "--apply-plan",
        metavar="F",
        help="apply the plan in the file F; exit with 1 if the specs or the server have changed since, with 2 if the file was edited",
    )
    plan_options(parser)
    parser.set_defaults(execute=execute)


def plan_options(parser: argparse.ArgumentParser) -> None:
    """What decides about a plan, whether or not it is applied."""
    parser.add_argument(
        "--no-prune",
        action="store_true",
        help="keep owned schedules that are no longer in the files (default: delete them)",
    )
    parser.add_argument(
        "--max-delete",
        type=at_least(0),
        metavar="N",
        help="allow up to N deletions (default: refuse more than 10 that are over 30%% of what is owned)",
    )
    parser.add_argument(
        "--adopt",
        action="store_true",
        help="take over schedules of these names that another owner has, and overwrite them",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--shadow",
        action="store_true",
        help="sync all jobs in shadow mode: runs are recorded, no step runs and no notice is sent",
    )
    mode.add_argument(
        "--from",
        dest="start",
        metavar="TIME",
        help="start no run before this time, such as 2027-03-01T06:30Z or 2h (from now): until then the old system runs the jobs",
    )
    parser.add_argument(
        "--deep", action="store_true", help="describe every schedule, to find hand edits that List does not show"
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="if preflight has a warning, show the plan, change nothing and exit with 1",
    )
    parser.add_argument(
        "--no-preflight",
        action="store_true",
        help="do not check that there are workers for the jobs",
    )
    parser.add_argument(
        "--rate",
        type=at_least(1),
        metavar="N",
        help="send at most N requests a second (default: as many as the server takes)",
    )
    parser.add_argument(
        "--output",
        choices=["text", "json", "markdown"],
        default="text",
        help="json, markdown: one document on stdout, for a program or for a comment on a pull request",
    )


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    import asyncio
    import gc

    code = asyncio.run(_run(options, given_registry(options)))
    gc.collect()
    return code


async def _run(options: argparse.Namespace, registry: HandlerRegistry | None) -> int:
    from schedules.sync.head_start import load_while_asking

    async def ask(owner: str) -> tuple[Client, list[ListedSchedule]]:
        from schedules.server.connection import connect
        from schedules.server.gateway import TemporalGateway

        client = await connect()
        return client, await TemporalGateway(client).owned(owner)

    now = datetime.now(UTC)
    loaded, (client, listed) = await load_while_asking(
        options.paths, options.env, registry, now, shadow=options.shadow, start=_start(options.start, now), ask=ask
    )
    from schedules.sync.run import SyncRun
    from schedules.views.lint import left_out_lines

    for line in left_out_lines(loaded.left_out):
        say(line)
    return await SyncRun(_values(options), loaded.owner, loaded.desired, now, client).run(listed)


def _values(options: argparse.Namespace) -> SyncOptions:
    from schedules.sync.options import SyncOptions

    return SyncOptions(
        tuple(options.paths),
        dry_run=options.dry_run,
        check=options.check,
        plan_out=options.plan_out or "",
        apply_plan=options.apply_plan or "",
        prune=not options.no_prune,
        max_delete=options.max_delete,
        adopt=options.adopt,
        deep=options.deep,
        strict=options.strict,
        preflight=not options.no_preflight,
        rate=options.rate,
        output=options.output,
    )


def _start(text: str | None, now: datetime) -> datetime | None:
    """The instant of --from. Raises SettingsError, also for a local time: jobs have zones of their own."""
    from schedules.errors import SettingsError
    from schedules.text.duration import parse_duration

    if text is None:
        return None
    with suppress(ValueError):
        return (now + parse_duration(text)).replace(microsecond=0)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise SettingsError(f"--from {text}: is not a time; write {FROM_EXAMPLES}") from None
    if at.tzinfo is None:
        raise SettingsError(f"--from {text}: has no offset, and jobs have zones of their own; write {FROM_EXAMPLES}")
    return at.astimezone(UTC).replace(microsecond=0)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `python -m schedules.sync`."""
    parser = argparse.ArgumentParser(prog="python -m schedules.sync")
    configure(parser)
    run(parser, arguments)


if __name__ == "__main__":
    main()
