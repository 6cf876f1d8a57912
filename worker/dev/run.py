"""`tickwright dev`: everything on one machine: Temporal, a demo service, the jobs, a worker, and the runs to look at."""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from schedules.console.terminal import run
from schedules.errors import SettingsError
from schedules.text.duration import parse_duration
from worker.dev.parts import board_page, demo, no_summary, shown_runs, temporal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.client import Client

    from worker.app import Offer
    from worker.process.lifecycle import Stop
    from worker.settings import WorkerSettings

JOBS = "jobs"
"""The folder that `tickwright init` makes."""
EXAMPLES, EXAMPLE_MODULES, EXAMPLE_ENVIRONMENT = "examples/jobs.yaml", ("examples.handlers",), "development"
SHOW_CURSOR = b"\x1b[?25h\n"


async def run_all(options: argparse.Namespace, stop: Stop) -> None:
    """Starts the parts in order, shows the runs, and ends the parts in the opposite order. Raises TickwrightError."""
    from schedules.compile.job import compile_project
    from schedules.lint.load import load_compiled
    from worker.app import Offer, beside
    from worker.dev.apply import apply, tell_what_is_missing
    from worker.dev.ports import USUAL, Ports

    settings = _settings(options)
    offer = Offer.of(settings.modules)
    now, paths = datetime.now(UTC), options.paths or [EXAMPLES]
    project, times = load_compiled(paths, _environment(options), offer.handlers, now)
    _start_log(settings, options.state)
    ports = Ports(options.state, {name: getattr(options, name) for name in USUAL})
    async with AsyncExitStack() as parts:
        if options.seconds is not None:
            asyncio.get_running_loop().call_later(options.seconds.total_seconds(), stop.ask)
        summary = no_summary if options.paths else await demo(parts, options.state)
        client, ui = await parts.enter_async_context(temporal(options.state, ports, stop))
        await parts.enter_async_context(board_page(client, ports, ui))
        since = datetime.now(UTC)
        desired = compile_project(project, now, times)
        plan = await apply(project.owner, desired, now, client, stop)
        settings = settings.model_copy(update={"ui_url": settings.ui_url or ui})
        async with shown_runs(client, project.owner, since, summary):
            with beside(tell_what_is_missing(plan, desired, client, settings.task_queue)):
                await _work(client, settings, offer, stop)
        if last := summary():
            print(last)


def _settings(options: argparse.Namespace) -> WorkerSettings:
    """A laptop's worker may run commands, and takes any port for its metrics. Raises SettingsError."""
    from worker.settings import load_settings

    settings = load_settings(allow_commands=True, http_address=("127.0.0.1", 0))
    if options.paths:
        return settings
    if not Path(EXAMPLES).exists():
        raise SettingsError(f"there is no folder {JOBS} here; write the PATH of a spec, or run `tickwright init`")
    if settings.modules:
        return settings
    return settings.model_copy(update={"modules": EXAMPLE_MODULES})


def _stop_at_once(number: int) -> None:
    """As a worker does; the live view has hidden the terminal's cursor."""
    from worker.process.ending import stop_at_once

    if os.isatty(1):
        os.write(1, SHOW_CURSOR)  # The live view has put itself in the place of sys.stdout.
    stop_at_once(number)


def _environment(options: argparse.Namespace) -> str | None:
    return options.env or (None if options.paths else EXAMPLE_ENVIRONMENT)


def _start_log(settings: WorkerSettings, state: Path) -> None:
    from worker.logs import configure_logs

    log = state / "worker.log"
    try:
        state.mkdir(parents=True, exist_ok=True)
        stream = log.open("a", buffering=1, encoding="utf-8")
    except OSError as error:
        raise SettingsError(
            f"--state {state} cannot be used: {error.strerror}; write a folder that can be written"
        ) from error
    configure_logs(settings.log_format or "json", settings.log_level, stream)
    print(f"worker log: {log}")


async def _work(client: Client, settings: WorkerSettings, offer: Offer, stop: Stop) -> None:
    from worker.app import beside, build_of, build_worker, health_of
    from worker.builds import announced
    from worker.health.health import serve_health
    from worker.metrics.metrics import WorkerMetrics
    from worker.process.lifecycle import poll_until_stopped

    metrics = WorkerMetrics()
    health = health_of(settings, metrics)
    health.client = client
    serving = serve_health(health, settings.http_address, settings.guard)
    async with (
        serving,
        build_worker(client, settings, offer, metrics) as worker,
        announced(client, settings.task_queue, build_of(settings)),
    ):
        with beside(health.keep_looking()):
            await poll_until_stopped(worker, health, stop, settings.drain_timeout)


def execute(options: argparse.Namespace) -> int:
    """Runs everything until a signal or the end of --for. Raises TickwrightError."""
    from worker.process.init import split_from_init
    from worker.process.lifecycle import Stop, run_to_end

    split_from_init()
    if not options.paths and Path(JOBS).is_dir():
        options.paths = [JOBS]
    stop = Stop(_stop_at_once)
    run_to_end(run_all(options, stop), stop)
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Run everything on this machine: an embedded Temporal (or the one that TEMPORAL_ADDRESS names), "
        "the jobs of the given specs, a worker, the board, and a view of the runs. Stop with Ctrl-C."
    )
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help=f"specs to apply (default: the folder {JOBS}, else {EXAMPLES} as {EXAMPLE_ENVIRONMENT})",
    )
    parser.add_argument("--env", metavar="E", help="environment of the specs")
    parser.add_argument("--for", dest="seconds", type=_duration, metavar="D", help="stop after this time, such as 30s")
    parser.add_argument(
        "--state",
        type=Path,
        default=Path(".tickwright"),
        metavar="DIR",
        help="folder for Temporal's state and the ports (default: .tickwright)",
    )
    for option, what in (("--port", "Temporal"), ("--ui-port", "its Web UI"), ("--board-port", "the board")):
        parser.add_argument(
            option, type=_port, metavar="N", help=f"port of {what} (default: the one of the last time, else a free one)"
        )
    parser.set_defaults(execute=execute)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `python -m worker.dev`."""
    parser = argparse.ArgumentParser(prog="python -m worker.dev")
    configure(parser)
    run(parser, arguments)


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**16:
        raise argparse.ArgumentTypeError(f"{text} is no port; write a number from 1 to 65535")
    return int(text)


def _duration(text: str) -> timedelta:
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not duration:
        raise argparse.ArgumentTypeError("0s is too short; write for example 30s")
    return duration


if __name__ == "__main__":
    main()
