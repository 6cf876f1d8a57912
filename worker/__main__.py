"""`tickwright worker` and `python -m worker`: a worker pod, from its settings to its end."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from worker.process.init import split_from_init
from worker.process.loading import light_loading

if TYPE_CHECKING:
    from collections.abc import Sequence


def execute(_: argparse.Namespace) -> int:
    """Runs a worker until it is asked to stop. Raises SettingsError before anything is connected."""
    split_from_init()
    with light_loading():
        from worker.app import Offer, run_worker
        from worker.logs import configure_logs
        from worker.metrics.sdk_metrics import SdkMetrics
        from worker.process.ending import stop_of
        from worker.process.lifecycle import run_to_end
        from worker.process.undumpable import close_to_commands
        from worker.settings import load_settings

    settings, metrics = load_settings(), SdkMetrics()
    if settings.allow_commands:
        close_to_commands()
    configure_logs(settings.log_format, settings.log_level, metrics=metrics.buffer)
    offer, stop = Offer.of(settings.modules), stop_of(settings)
    run_to_end(run_worker(settings, offer, metrics, stop), stop)
    return 0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command on `parser`; its settings come from elsewhere."""
    from worker.help import EPILOG, SettingsFormatter

    parser.description = "Run jobs: poll a task queue of Temporal until stopped. SIGTERM, SIGINT and SIGHUP drain the worker; a second signal stops it at once."
    parser.epilog = EPILOG
    parser.formatter_class = SettingsFormatter
    parser.set_defaults(execute=execute)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `python -m worker`."""
    from worker.shadow import refuse_shadows

    refuse_shadows()
    from schedules.console.terminal import run

    parser = argparse.ArgumentParser(prog="python -m worker")
    configure(parser)
    run(parser, arguments)


if __name__ == "__main__":
    main()
