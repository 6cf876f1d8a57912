"""Which jobs a command that reads is about: those of spec files, of an owner, or all; narrowed by name and label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.commands.options.reading import owner_option
from schedules.commands.options.specs import given_registry, project_options
from schedules.errors import SettingsError
from schedules.ledger.selection import Selection

if TYPE_CHECKING:
    import argparse


def selection_options(parser: argparse.ArgumentParser) -> None:
    """Paths, owner, glob and labels."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="spec files: show their jobs, also those without a schedule"
    )
    project_options(parser)
    owner_option(parser)
    parser.add_argument("--job", default="", metavar="GLOB", help="only jobs with such a name, for example 'billing-*'")
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="K=V",
        help="only jobs with this label; needs a PATH; may be repeated",
    )


def selected(options: argparse.Namespace) -> Selection:
    """What the options say. Raises SettingsError or SpecError."""
    labels = dict(_label(text) for text in options.label)
    if not options.paths:
        if labels:
            raise SettingsError("--label: labels are in the spec files; write their PATH, too")
        if options.env is not None:
            raise SettingsError(_env_without_files(options.owner))
        return Selection(_owner(options.owner), options.job)
    if options.owner:
        raise SettingsError(
            "--owner: with PATHs, the files name the project and --env the environment; leave --owner out"
        )
    from datetime import UTC, datetime

    from schedules.lint.load import load_readable

    project, times = load_readable(options.paths, options.env, given_registry(options), datetime.now(UTC))
    jobs = {job.name: job for job in project.jobs}
    return Selection(
        project.owner, options.job, labels, jobs, {name: found.times for name, found in times.items()}, project
    )


def _env_without_files(owner: str | None) -> str:
    other = (
        "or leave it out, because --owner names the environment"
        if owner
        else "or name the --owner, project/environment"
    )
    return f"--env: environments are in the spec files; write their PATH, too, {other}"


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingsError(f"--label {text}: write name=value, for example team=billing")
    return name, value


def _owner(text: str | None) -> str | None:
    from schedules.spec.fields import check_owner_part

    if text is None:
        return None
    project, slash, environment = text.partition("/")
    if not slash:
        raise SettingsError(f"--owner {text}: write project/environment, for example billing/production")
    try:
        return f"{check_owner_part(project)}/{check_owner_part(environment)}"
    except ValueError as error:
        raise SettingsError(f"--owner {text}: {error}") from None
