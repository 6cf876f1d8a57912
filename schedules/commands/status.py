"""`python -m schedules status [PATH…]`: the state of every job."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedules.commands.options.reading import EPILOG, answer, output_option, read
from schedules.commands.options.selection import selected, selection_options
from schedules.commands.options.specs import at_least
from schedules.errors import SettingsError
from schedules.ledger.status import job_states

if TYPE_CHECKING:
    import argparse

    from rich.console import RenderableType

    from schedules.ledger.overview import Overview
    from schedules.ledger.records import Records
    from schedules.ledger.selection import Selection

USUAL_SECONDS = 5
FOUND = 4


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Show the state of every job: its last and next time, how it ended, what it missed, who paused it."
    )
    selection_options(parser)
    parser.add_argument(
        "--since", default="24h", metavar="T", help="count from this time on: 24h, 7d or a time in UTC (default: 24h)"
    )
    parser.add_argument(
        "--watch",
        nargs="?",
        type=at_least(1),
        const=USUAL_SECONDS,
        metavar="S",
        help=f"show the state again every S seconds (default: {USUAL_SECONDS})",
    )
    parser.add_argument(
        "--fail-on",
        default="",
        metavar="S,…",
        help="for scripts: exit with 4 if a job is in one of these states, such as failing,late; missing needs a PATH",
    )
    output_option(parser)
    parser.epilog = f"{EPILOG} 4: a job is in a state of --fail-on."
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    if options.watch and options.output == "json":
        raise SettingsError("--watch does not go with --output json; leave one of them out")
    wanted = _states(options.fail_on)
    if "missing" in wanted and not options.paths:
        raise SettingsError(
            "--fail-on missing: a job is missing if it is in the spec files and not on the server; write their PATH, too"
        )
    meant = selected(options)

    async def work(records: Records, now: datetime) -> int:
        if options.watch:
            await _watch(records, meant, options)
        found = await job_states(records, meant, options.since, now)
        _show(found, options.output, now)
        return FOUND if any(state.state in wanted for state in found.states) else 0

    return read(work)


def _show(found: Overview, output: str, now: datetime) -> None:
    from activities.occurrence import stamp
    from schedules.console.table import console
    from schedules.views.status import state_json

    if output == "json":
        states = [state_json(state) for state in found.states]
        answer({"at": stamp(now), "since": stamp(found.since), "complete": found.complete, "jobs": states})
    else:
        screen = console()
        screen.print(_picture(found, now, screen.width))


def _picture(found: Overview, now: datetime, width: int) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from schedules.console.table import cut, fitting, table
    from schedules.views.status import COLUMNS, LEAST_FIRST, state_row, summary

    shown, more = cut(found.states)
    rows = [state_row(state, now) for state in shown]
    empty = {column for column in COLUMNS[2:] if not any(row[column] for row in rows)}
    if len({state.owner for state in found.states}) == 1:
        empty.add("owner")
    used = fitting([column for column in COLUMNS if column not in empty], rows, width, LEAST_FIRST)
    return Group(table(used, rows, width=width), *([Text(more)] if more else []), Text(summary(found.states, found)))


def _states(text: str) -> frozenset[str]:
    """An option's comma-separated states. Raises SettingsError with the known ones."""
    from schedules.ledger.status import WORST_FIRST
    from schedules.text.nearest import suggestion

    given = [word.strip().replace(" ", "_") for word in text.split(",") if word.strip()]
    if wrong := next((word for word in given if word not in WORST_FIRST), None):
        raise SettingsError(f"--fail-on {wrong}: {suggestion(wrong, WORST_FIRST, 'states')}")
    return frozenset(given)


async def _watch(records: Records, meant: Selection, options: argparse.Namespace) -> None:
    """Until interrupted; what the server could not answer is said, and asked again. Without a terminal, table after table."""
    from rich.live import Live

    from schedules.console.table import console

    screen = console()
    if not screen.is_terminal:
        while True:
            screen.print(await _picture_now(records, meant, options.since, screen.width))
            await asyncio.sleep(options.watch)
    with Live(console=screen, auto_refresh=False, vertical_overflow="crop") as live:
        while True:
            live.update(await _picture_now(records, meant, options.since, screen.width), refresh=True)
            await asyncio.sleep(options.watch)


async def _picture_now(records: Records, meant: Selection, since: str, width: int) -> RenderableType:
    from rich.text import Text

    from schedules.errors import ServerError

    now = datetime.now(UTC)
    try:
        return _picture(await job_states(records, meant, since, now), now, width)
    except ServerError as error:
        return Text(str(error))
