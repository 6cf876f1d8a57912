"""`python -m schedules lint PATH…`: everything about the specs that can be checked offline."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedules.commands.options.specs import given_registry, spec_options
from schedules.console.terminal import STDOUT, say
from schedules.errors import SettingsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from schedules.errors import Problem
    from schedules.spec.project import Project

RIGHT, WRONG = 0, 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Check spec files without a server. Exit codes: 0 right; 2 wrong."
    spec_options(parser)
    parser.add_argument("--strict", action="store_true", help="count warnings as errors")
    parser.add_argument(
        "--max-starts-per-second",
        type=float,
        metavar="N",
        help="starts that the namespace allows, over all jobs (default: 30, that of a self-hosted server)",
    )
    parser.add_argument("--quiet-windows", action="store_true", help="show the hours in which nothing starts")
    parser.add_argument("--output", choices=["text", "json"], default="text", help="json: one document on stdout")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises SettingsError for a wrong option."""
    from schedules.lint.findings import STARTS_PER_SECOND, findings
    from schedules.lint.load import check_project
    from schedules.lint.place import placed
    from schedules.source.locate import Locator

    limit = STARTS_PER_SECOND if options.max_starts_per_second is None else options.max_starts_per_second
    if not limit > 0:
        raise SettingsError(f"--max-starts-per-second {limit:g}: write a number above 0, for example 30")
    now = datetime.now(UTC)
    checked = check_project(options.paths, options.env, given_registry(options), now)
    project, whole = checked.project, not checked.unreadable
    seen = findings(project, checked.times, now, limit=limit, quiet=options.quiet_windows, whole=whole)
    found = list(dict.fromkeys([*checked.problems, *placed(seen, Locator(project))]))
    _show(project, found, options.output)
    wrong = ("error", "warning") if options.strict else ("error",)
    return WRONG if any(each.severity in wrong for each in found) else RIGHT


def _show(project: Project, found: Sequence[Problem], output: str) -> None:
    from schedules.views.lint import document, left_out_lines, summary

    if output == "json":
        STDOUT.answer(json.dumps(document(project, found), indent=2) + "\n")
    else:
        say("\n".join([*map(str, found), *left_out_lines(project.left_out), summary(project, found)]))
