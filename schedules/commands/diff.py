"""`tickwright diff PATH…`: the plan of a sync that is not made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.commands import sync
from schedules.commands.options.specs import spec_options

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sync` that a plan has on `parser`."""
    parser.description = "Show what a sync of the spec files would change, and change nothing: `sync --dry-run`."
    parser.epilog = "Exit codes: 0 done or in sync; 1 something failed; 2 the spec, a setting or the command line is wrong; 3 --check found changes."
    spec_options(parser)
    look = parser.add_mutually_exclusive_group()
    look.add_argument("--check", action="store_true", help="exit with 3 if anything would change")
    look.add_argument("--plan-out", metavar="F", help="write the plan to the file F for `sync --apply-plan`")
    sync.plan_options(parser)
    parser.set_defaults(execute=sync.execute, dry_run=True, apply_plan=None)
