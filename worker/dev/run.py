"""`python -m worker.dev`: everything on one machine: Temporal, a demo service, the jobs, a worker, and the runs to look at."""

from __future__ import annotations

import argparse
import asyncio
import os
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from schedules.console.terminal import run
from schedules.errors import SettingsError, TickwrightError
from schedules.text.duration import parse_duration
from worker.dev.parts import board_page, demo, no_summary, shown_runs, temporal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from temporalio.client import Client

    from schedules.model import DesiredSchedule
    from worker.app import Offer
    from worker.process.lifecycle import Stop
    from worker.settings import WorkerSettings

EXAMPLES, EXAMPLE_MODULES, EXAMPLE_ENVIRONMENT = "examples/jobs.yaml", ("examples.handlers",), "development"
SHOW_CURSOR = b"\x1b[?25h\n"


class SyncFailedError(TickwrightError):
    """Some of the jobs could not be applied."""


async def run_all(options: argparse.Namespace, stop: Stop) -> None:
    """Starts the parts in order, shows the runs, and ends the parts in the opposite order. Raises TickwrightError."""
    from schedules.compile.job import compile_project
    from schedules.lint.load import load_compiled
    from worker.app import Offer

    settings = _settings(options)
    offer = Offer.of(settings.modules)
    now, paths = datetime.now(UTC), options.paths or [EXAMPLES]
    project, times = load_compiled(paths, _environment(options), offer.handlers, now)
    _start_log(settings, options.state)
    async with AsyncExitStack() as parts:
        if options.seconds is not None:
            asyncio.get_running_loop().call_later(options.seconds.total_seconds(), stop.ask)
        summary = no_summary if options.paths else await demo(parts, options.state)
        client, ui = await parts.enter_async_context(temporal(options.state, stop))
        await parts.enter_async_context(board_page(client, project, ui))
        since = datetime.now(UTC)
        await _apply(project.owner, compile_project(project, now, times), now, client, stop)
        async with shown_runs(client, project.owner, since, summary):
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
        raise SettingsError(
            f"there is no {EXAMPLES} here, because the examples are in the repository and not in the package; write the PATH of a spec"
        )
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


async def _apply(
    owner: str, compiled: Mapping[str, DesiredSchedule], now: datetime, client: Client, stop: Stop
) -> None:
    """Makes the namespace match the jobs. Raises TickwrightError where it does not afterwards."""
    from schedules.plan.encryption import sealed
    from schedules.server.codec import active_key
    from schedules.server.gateway import TemporalGateway
    from schedules.sync.reconcile import apply_plan, plan_sync
    from schedules.views.plan import counts, result_text

    gateway = TemporalGateway(client)
    desired = sealed(compiled, active_key(client.data_converter))
    plan = await plan_sync(gateway, owner, desired, now)
    plan.raise_if_unsafe(None)
    print(counts(plan))
    results = await apply_plan(plan, gateway, stop.asked)
    text = result_text(plan, results, interrupted=stop.asked.is_set())
    if any(item.result == "failed" for item in results):
        raise SyncFailedError(text)
    print(text, flush=True)


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
    stop = Stop(_stop_at_once)
    run_to_end(run_all(options, stop), stop)
    return 0


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `python -m worker.dev`."""
    parser = argparse.ArgumentParser(
        prog="python -m worker.dev",
        description="Run everything on this machine: an embedded Temporal server (or the one that TEMPORAL_ADDRESS names), "
        "the jobs of the specs, a worker, and a view of the runs. Stop with Ctrl-C.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help=f"specs to apply (default: {EXAMPLES}, as {EXAMPLE_ENVIRONMENT})"
    )
    parser.add_argument("--env", metavar="E", help="environment of the specs")
    parser.add_argument("--for", dest="seconds", type=_duration, metavar="D", help="stop after this time, such as 30s")
    parser.add_argument(
        "--state", type=Path, default=Path(".tickwright"), metavar="DIR", help="folder for Temporal's state"
    )
    parser.set_defaults(execute=execute)
    run(parser, arguments)


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
