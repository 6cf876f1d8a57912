"""`tickwright init [FOLDER]`: the files of a new project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schedules.console.terminal import say
from schedules.errors import SettingsError

if TYPE_CHECKING:
    import argparse

NEXT = """\
next:
  tickwright lint jobs    checks the jobs
  tickwright dev          runs them on this machine
  pytest                  tests them (pip install 'tickwright[testing]')"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Write the files of a new project: a job, settings, a test, a CI workflow, an image and how to deploy it. "
        "Nothing is written where one of them is there. Exit codes: 0 written; 2 something is in the way."
    )
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="where to (default: here)")
    parser.add_argument("--project", metavar="NAME", help="name of the project (default: that of the folder)")
    parser.add_argument(
        "--deploy",
        choices=["compose", "kubernetes"],
        default="compose",
        help="compose: a compose.yaml; kubernetes: manifests of the workers with an overlay of yours (default: compose)",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Writes the files; the exit code. Raises SettingsError where it cannot."""
    from pydantic import TypeAdapter, ValidationError

    from schedules.scaffold.files import project_files, project_name, written
    from schedules.spec.fields import OwnerPart
    from schedules.version import __version__

    folder = Path(options.folder)
    name = options.project or project_name(folder.resolve().name)
    try:
        TypeAdapter(OwnerPart).validate_python(name)
    except ValidationError as error:
        raise SettingsError(f"--project {error.errors()[0]['msg'].removeprefix('Value error, ')}") from error
    files = project_files(name, __version__, options.deploy)
    try:
        taken = written(folder, files)
    except OSError as error:
        raise SettingsError(f"{error.filename}: cannot be written: {error.strerror}") from error
    if taken:
        raise SettingsError(
            f"nothing was written: {', '.join(taken)} {'is' if len(taken) == 1 else 'are'} there already"
        )
    say("\n".join([*(str(folder / path) for path in files), NEXT]))
    return 0
