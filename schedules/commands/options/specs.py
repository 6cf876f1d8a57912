"""Options that several commands share."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from activities.registry import HandlerRegistry


def spec_options(parser: argparse.ArgumentParser) -> None:
    """What says which spec is meant: the paths, the environment, and the modules with its Python handlers."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="file, folder of files, - for standard input, or module:attribute"
    )
    project_options(parser)


def project_options(parser: argparse.ArgumentParser) -> None:
    """What decides how the files of the paths are read."""
    parser.add_argument("--env", metavar="E", help="environment of the files (default: none)")
    parser.add_argument(
        "--modules",
        metavar="M,…",
        default=os.environ.get("TICKWRIGHT_MODULES", ""),
        help="modules with handlers, against which `python` steps are checked (default: $TICKWRIGHT_MODULES)",
    )


def given_registry(options: argparse.Namespace) -> HandlerRegistry | None:
    """The handlers of the modules named, None where none is. Raises SettingsError for a module that cannot be used."""
    names = [name.strip() for name in options.modules.split(",") if name.strip()]
    if not names:
        return None
    from schedules.source.user_modules import find_handlers, import_modules

    return find_handlers(import_modules(names))


def at_least(smallest: int) -> Callable[[str], int]:
    """A type of option: a whole number, no smaller than this."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = smallest - 1
        if value < smallest:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least {smallest}")
        return value

    return number
