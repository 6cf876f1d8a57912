"""A user's module that has the name of one of our packages, and is found before it by `python -m`."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("activities", "workflows")
EXIT_CODE = 2


def refuse_shadows() -> None:
    """Ends the process where such a module would be loaded for ours."""
    home = Path(__file__).resolve().parents[1]
    origins = (spec.origin for name in NEEDED if (spec := find_spec(name)) and spec.origin)
    for origin in origins:
        if Path(origin).resolve().parents[1] != home:
            sys.stderr.write(
                f"{origin} has the name of a part of Tickwright and would be loaded in its place; rename it, or take the "
                "command `tickwright` (as in `tickwright sync`), which does not look into the current folder first\n"
            )
            sys.exit(EXIT_CODE)
