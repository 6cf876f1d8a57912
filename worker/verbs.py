"""The command `tickwright`: the verbs of `schedules`, and the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from schedules import __main__ as commands

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the installed command."""
    commands.main(arguments, {**commands.VERBS, "worker": ("run jobs until it is stopped", "worker.__main__")})
