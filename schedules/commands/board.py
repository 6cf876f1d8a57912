"""`python -m schedules board [PATH…]`: one page that shows what ran, what did not, and what comes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from schedules.commands.explain import UI_URL
from schedules.commands.options.selection import selected, selection_options
from schedules.commands.options.serving import address_of, guard_of, interval_of, serving_options
from schedules.console.help import LinesFormatter
from schedules.errors import SettingsError
from schedules.serve.access import TOKEN, TOKEN_FILE

if TYPE_CHECKING:
    import argparse

USUAL_ADDRESS = "127.0.0.1:9466"
EPILOG = (
    f"It reads only, keeps nothing, and looks once an interval however many people have the page open. {TOKEN}, or a file in "
    f"{TOKEN_FILE}, makes it ask for the token: as the password of any user name, or as `Authorization: Bearer …`. "
    "The connection is that of the temporal CLI. With PATHs it also shows labels, and jobs without a schedule; the files are read once.\n"
    "Exit codes: 0 told to stop; 1 it cannot listen; 2 the command line, a setting or a spec is wrong.\n"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Serve one read-only page with what ran in the last 24 hours, what did not, and what comes."
    parser.epilog = EPILOG
    parser.formatter_class = LinesFormatter
    selection_options(parser)
    serving_options(parser, USUAL_ADDRESS, "the page")
    parser.add_argument(
        "--ui",
        default=os.environ.get(UI_URL, ""),
        metavar="URL",
        help=f"address of Temporal's Web UI, for links to the runs (default: ${UI_URL})",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs until told to stop; the exit code. Raises TickwrightError for what ends it early."""
    import asyncio

    from schedules.board.serve import serve

    address, interval, ui = address_of(options), interval_of(options), _web(options.ui)
    guard = guard_of(options)
    asyncio.run(serve(selected(options), address, guard, interval, options.rate, ui))
    return 0


def _web(url: str) -> str:
    """An address that may stand in a link."""
    if url and not url.startswith(("http://", "https://")):
        raise SettingsError(f"--ui {url}: write an address that begins with http:// or https://")
    return url
