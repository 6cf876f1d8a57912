"""`python -m worker`: a worker pod, from its settings to its end."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, NoReturn

from schedules.terminal import run
from worker.loading import light_loading

if TYPE_CHECKING:
    from collections.abc import Sequence


def execute(_: argparse.Namespace) -> int:
    """Runs a worker until it is asked to stop. Raises SettingsError before anything is connected."""
    with light_loading():
        from worker.app import run_worker
        from worker.logs import configure_logs
        from worker.sdk_metrics import SdkMetrics
        from worker.settings import load_settings

    settings, metrics = load_settings(), SdkMetrics()
    configure_logs(settings.log_format, settings.log_level, metrics=metrics.buffer)
    asyncio.run(run_worker(settings, metrics))
    return 0


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of `python -m worker`."""
    with light_loading():
        from worker.settings import settings_help

    parser = argparse.ArgumentParser(
        prog="python -m worker",
        description="Run jobs: poll a task queue of Temporal until told to stop (SIGTERM drains, a second signal stops at once).",
        epilog=f"settings, from the environment or the same in lower case in tickwright.toml:\n{settings_help()}\n\n"
        "The connection is that of the temporal CLI: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, profiles.\n"
        "Secrets for ${secret:NAME}: TICKWRIGHT_SECRET_NAME, or a file NAME in TICKWRIGHT_SECRETS_DIR.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(execute=execute)
    run(parser, arguments)


if __name__ == "__main__":
    main()
