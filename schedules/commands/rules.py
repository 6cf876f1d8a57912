"""`python -m schedules rules PATH…`: Prometheus' alert rules for the jobs of spec files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.commands.options.specs import given_registry, spec_options
from schedules.console.terminal import STDOUT

if TYPE_CHECKING:
    import argparse

HEAD = "# Written by `tickwright rules`; thresholds stand under `alerts` in the specs.\n"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Write Prometheus alert rules for the jobs of spec files to standard output, without a server."
    parser.epilog = "Exit codes: 0 written; 2 the spec or the command line is wrong."
    spec_options(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises SpecError."""
    from schedules.lint.load import load_checked
    from schedules.monitor.alert_rules import rule_file
    from schedules.text.yaml import yaml_text

    STDOUT.keep_for("rules")
    STDOUT.answer(HEAD + yaml_text(rule_file(load_checked(options.paths, options.env, given_registry(options)))))
    return 0
