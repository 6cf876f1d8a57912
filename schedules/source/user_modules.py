"""The user's own modules: imported by name, and the handlers that they offer."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from activities.registry import HandlerRegistry, RegistryError
from schedules.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType


PACKAGES = frozenset({"activities", "schedules", "worker", "workflows"})
_TAKEN = "Tickwright's own package has the name {}; give yours another"


def import_modules(names: Iterable[str]) -> list[ModuleType]:
    """The modules, found as `python` would find them from the current folder. Raises SettingsError for all that fail."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    modules: list[ModuleType] = []
    problems: list[str] = []
    for name in names:
        if name in PACKAGES:
            problems.append(f"module {name} (of --modules or TICKWRIGHT_MODULES): {_TAKEN.format(name)}")
            continue
        try:
            modules.append(importlib.import_module(name))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's module may raise anything while it is imported
            problems.append(
                f"module {name} (of --modules or TICKWRIGHT_MODULES) cannot be imported: {type(error).__name__}: {error}"
                f"{_hint(name, error)}"
            )
    if problems:
        raise SettingsError("\n".join(problems))
    return modules


def _hint(name: str, error: BaseException) -> str:
    """Whether a name of ours stands in the way: of the module itself, or of one that it imports."""
    missing = (error.name or "") if isinstance(error, ImportError) else ""
    packages = [each.partition(".")[0] for each in (name, missing)]
    return next((f"; {_TAKEN.format(package)}" for package in packages if package in PACKAGES), "")


def find_handlers(modules: Sequence[ModuleType]) -> HandlerRegistry:
    """The `python` handlers of the modules. Raises SettingsError where two claim one name."""
    try:
        return HandlerRegistry.from_modules(modules)
    except RegistryError as error:
        raise SettingsError("\n".join(error.problems)) from error
