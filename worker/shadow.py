"""A user's module that has the name of one of our packages, and is found before it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("activities", "schedules", "workflows")
EXIT_CODE = 2


def refuse_shadows() -> None:
    """Ends the process where `python -m`, which looks into the current folder first, would load such a module for ours."""
    home = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        spec = find_spec(name)
        found = spec.origin if spec and spec.origin else f"no package {name}, and what there is"
        if Path(found).resolve() != home / name / "__init__.py":
            sys.stderr.write(
                f"{found} has the name of a part of Tickwright and would be loaded in its place; "
                "rename it, or start the worker by `tickwright worker`, which does not look into the current folder first\n"
            )
            sys.exit(EXIT_CODE)
