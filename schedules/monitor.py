"""`python -m schedules.monitor [PATH…]`: metrics of every job, also of one that never ran, for Prometheus."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from schedules.errors import SettingsError
from schedules.options import at_least
from schedules.selection import selected, selection_options
from schedules.terminal import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from schedules.access import Token

ADDRESS, TOKEN, TOKEN_FILE = "TICKWRIGHT_HTTP_ADDRESS", "TICKWRIGHT_HTTP_TOKEN", "TICKWRIGHT_HTTP_TOKEN_FILE"
USUAL_ADDRESS, USUAL_INTERVAL, USUAL_RATE = "127.0.0.1:9465", "30s", 25
EPILOG = f"""\
It keeps nothing, so it may be restarted and run twice. {TOKEN}, or a file in {TOKEN_FILE}, makes /metrics ask for
`Authorization: Bearer …`. The connection is that of the temporal CLI. With PATHs it also tells which schedules are missing or
differ from the files, which are read once: restart it with the files.
Exit codes: 0 told to stop; 1 it cannot listen; 2 the command line, a setting or a spec is wrong.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Serve metrics of every job, read from Temporal again and again, until told to stop."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    selection_options(parser)
    parser.add_argument(
        "--address",
        default=os.environ.get(ADDRESS, USUAL_ADDRESS),
        metavar="HOST:PORT",
        help=f"where to serve /metrics, /livez and /readyz (default: ${ADDRESS}, else {USUAL_ADDRESS})",
    )
    parser.add_argument(
        "--interval",
        default=USUAL_INTERVAL,
        metavar="D",
        help=f"how often to look at Temporal (default: {USUAL_INTERVAL})",
    )
    parser.add_argument(
        "--rate",
        type=at_least(1),
        default=USUAL_RATE,
        metavar="N",
        help=f"calls of Temporal a second, at most (default: {USUAL_RATE})",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs until told to stop; the exit code. Raises TickwrightError for what ends it early."""
    import asyncio

    from schedules.watch.serve import serve

    address, interval, token = _address(options.address), _interval(options.interval), _token()
    asyncio.run(serve(selected(options), address, token, interval, options.rate))
    return 0


def _address(text: str) -> tuple[str, int]:
    from schedules.address import host_and_port

    try:
        return host_and_port(text)
    except ValueError as error:
        raise SettingsError(f"--address: {error}") from None


def _interval(text: str) -> timedelta:
    from datetime import timedelta

    from schedules.duration import parse_duration

    try:
        interval = parse_duration(text)
    except ValueError as error:
        raise SettingsError(f"--interval: {error}") from None
    if interval < timedelta(seconds=1):
        raise SettingsError(f"--interval {text}: write 1s or more")
    return interval


def _token() -> Token | None:
    from schedules.access import Token

    file = os.environ.get(TOKEN_FILE)
    return Token.of(os.environ.get(TOKEN, ""), Path(file) if file else None)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `python -m schedules.monitor`."""
    parser = argparse.ArgumentParser(prog="python -m schedules.monitor")
    configure(parser)
    run(parser, arguments)


if __name__ == "__main__":
    main()
