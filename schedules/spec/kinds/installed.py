"""Kinds of steps that other packages bring, by their entry points `tickwright.handlers`."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from activities.contract import KINDS_GROUP
from schedules.errors import SettingsError
from schedules.spec.kinds.kind import KindSpec

if TYPE_CHECKING:
    from collections.abc import Collection
    from importlib.metadata import EntryPoint

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def installed_kinds(own: Collection[str]) -> dict[str, type[KindSpec]]:
    """The models of installed packages by the names of their kinds, none of them of `own`.

    Raises SettingsError for one that cannot be used.
    """
    found: dict[str, type[KindSpec]] = {}
    for point in sorted(entry_points(group=KINDS_GROUP), key=lambda point: point.name):
        if problem := _problem(point, own) or (
            f"another package has it, too: {found[point.name].__module__}" if point.name in found else ""
        ):
            raise SettingsError(f"the kind of step `{point.name}` ({point.value}) cannot be used: {problem}")
        found[point.name] = point.load()
    return found


def _problem(point: EntryPoint, own: Collection[str]) -> str:
    if point.name in own:
        return "Tickwright has one of this name; give it another"
    if not _NAME.fullmatch(point.name):
        return "its name is no key for a spec; write small letters, digits and _"
    try:
        kind = point.load()
    except Exception as error:  # noqa: BLE001 - a package of somebody else's may raise anything
        return f"{type(error).__name__}: {error}; mend or uninstall its package"
    if not (isinstance(kind, type) and issubclass(kind, KindSpec)):
        return "it is no subclass of `tickwright.KindSpec`"
    return "" if kind.runner else "its `runner` is missing; write `package.module:Class`"
