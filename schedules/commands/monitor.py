"""`python -m schedules.monitor [PATH…]`: metrics of every job, also of one that never ran, for Prometheus."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from schedules.commands.options.selection import selected, selection_options
from schedules.commands.options.serving import address_of, guard_of, interval_of, serving_options
from schedules.console.help import LinesFormatter
from schedules.console.terminal import run
from schedules.serve.access import TOKEN, TOKEN_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL_ADDRESS = "127.0.0.1:9465"
EPILOG = (
    f"It keeps nothing, so it may be restarted and run twice. {TOKEN}, or a file in {TOKEN_FILE}, makes /metrics ask for "
    "`Authorization: Bearer …`. The connection is that of the temporal CLI. With PATHs it also tells which schedules are missing or "
    "differ from the files, which are read once: restart it with the files.\n"
    "Exit codes: 0 told to stop; 1 it cannot listen; 2 the command line, a setting or a spec is wrong.\n"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Serve metrics of every job for Prometheus, until it is stopped."
    parser.epilog = EPILOG
    parser.formatter_class = LinesFormatter
    selection_options(parser)
    serving_options(parser, USUAL_ADDRESS, "/metrics, /livez and /readyz")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs until told to stop; the exit code. Raises TickwrightError for what ends it early."""
    import asyncio

    from schedules.monitor.serve import serve

    address, interval, guard = address_of(options), interval_of(options), guard_of(options)
    asyncio.run(serve(selected(options), address, guard, interval, options.rate))
    return 0


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `python -m schedules.monitor`."""
    parser = argparse.ArgumentParser(prog="python -m schedules.monitor")
    configure(parser)
    run(parser, arguments)


if __name__ == "__main__":
    main()
