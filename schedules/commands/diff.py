"""`tickwright diff PATH…`: the plan of a sync that is not made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.commands import sync
from schedules.errors import SettingsError

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sync` on `parser`."""
    sync.configure(parser)
    parser.description = "Show what a sync of the spec files would change, and change nothing: `sync --dry-run`."
    parser.set_defaults(execute=execute, dry_run=True)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    if options.apply_plan:
        raise SettingsError("--apply-plan changes schedules; give it to `sync`")
    return sync.execute(options)
