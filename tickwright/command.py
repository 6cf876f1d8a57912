"""The command `tickwright`: the verbs of `schedules`, the worker, and everything on a laptop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tickwright.own_packages import load_own_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

VERBS = {
    "worker": ("run jobs until told to stop", "worker.__main__"),
    "dev": ("run everything on this machine: Temporal, the jobs, a worker, the board", "worker.dev.run"),
}
"""Beside those of `schedules`."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the installed command."""
    load_own_packages()
    from schedules import __main__ as commands

    commands.main(arguments, {**commands.VERBS, **VERBS})
