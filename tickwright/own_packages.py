"""Tickwright's packages, loaded from where they are installed even if the current folder has modules of these names."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

PACKAGES = ("activities", "schedules", "worker", "workflows")
HOME = Path(__file__).parents[1]


def load_own_packages() -> None:
    """Loads those that are not loaded yet. Raises ImportError where another module has been loaded under such a name."""
    for name in PACKAGES:
        if name not in sys.modules:
            _load(name)
        elif not _is_own(name, other := getattr(sys.modules[name], "__file__", None)):
            raise ImportError(
                f"{other or name} has the name of a part of Tickwright and was imported before it; rename that module"
            )


def _is_own(name: str, file: str | None) -> bool:
    """Whether it is the package beside this one, also by way of links."""
    return file is not None and Path(file).resolve() == (HOME / name / "__init__.py").resolve()


def _load(name: str) -> None:
    spec = PathFinder.find_spec(name, [str(HOME)])
    if spec is None or spec.loader is None:
        raise ImportError(f"Tickwright is not installed whole: {HOME / name} is missing")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
