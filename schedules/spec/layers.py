"""Deep merge of what applies to one job, and the way back: which layer a merged value came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from schedules.spec.handlers import KINDS

LISTS = {name: kind.list_means for name, kind in KINDS.items() if kind.list_means}
"""The handlers that a list may stand for, by the field that it fills."""
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """Keys for a job from one place of a file; `path` is that place, `("environments", "production", "defaults")`."""

    path: Path
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a merged value stands as written: a short form (`command: [a]` for `{argv: [a]}`) has a shorter path."""

    layer: Layer
    path: Path
    value: Any


def merge(weak: dict[str, Any], strong: dict[str, Any]) -> dict[str, Any]:
    """Mappings merge key by key; of anything else the strong side stays. Neither argument is changed."""
    merged = weak | strong
    for key in weak.keys() & strong.keys():
        if isinstance(weak[key], dict) and isinstance(strong[key], dict):
            merged[key] = merge(weak[key], strong[key])
    return merged


def merge_job(weak: dict[str, Any], strong: dict[str, Any]) -> dict[str, Any]:
    """As `merge`, but `schedule` is replaced as a whole, so is `run` where the handler is another, and `run` by `steps`."""
    for one, other in (("run", "steps"), ("steps", "run")):
        if one in strong and other not in strong:
            weak = {key: value for key, value in weak.items() if key != other}
    merged = merge(weak, strong)
    if "schedule" in strong:
        merged["schedule"] = strong["schedule"]
    if "run" in weak and "run" in strong:
        same = _handlers(weak["run"]) == _handlers(strong["run"])
        merged["run"] = merge(_written_out(weak["run"]), _written_out(strong["run"])) if same else strong["run"]
    return merged


def origins(layers: Sequence[Layer], path: Path) -> list[Origin]:
    """The layers, weakest first, that the merged value at a path is made of; strongest first, and never none.

    A path that leaves the data (a missing key) ends at the last mapping that is there.
    """
    found = [Origin(layer, (), layer.data) for layer in reversed(layers)]
    for depth, step in enumerate(path):
        below = [origin for here in found if (origin := _descend(here, step))]
        if not below:
            break
        found = _contributing(below, path[: depth + 1])
    return found


def _descend(here: Origin, step: str | int) -> Origin | None:
    value = here.value
    match step:
        case str() if isinstance(value, dict):
            return Origin(here.layer, (*here.path, step), value[step]) if step in value else None
        case int() if isinstance(value, list):
            return Origin(here.layer, (*here.path, step), value[step]) if step < len(value) else None
        case _:
            return here


def _contributing(found: list[Origin], path: Path) -> list[Origin]:
    if path == ("schedule",):
        return found[:1]
    if path == ("run",):
        return list(takewhile(lambda origin: _handlers(origin.value) == _handlers(found[0].value), found))
    if not _merges(found[0].value, path):
        return found[:1]
    return list(takewhile(lambda origin: _merges(origin.value, path), found))


def _merges(value: Any, path: Path) -> bool:
    short = path[0] == "run" and len(path) == len(("run", "command")) and path[1] in LISTS
    return isinstance(value, dict) or (short and isinstance(value, list))


def _handlers(run: Any) -> object:
    return run.keys() if isinstance(run, dict) else None


def _written_out(run: dict[str, Any]) -> dict[str, Any]:
    return {
        key: {LISTS[key]: value} if key in LISTS and isinstance(value, list) else value for key, value in run.items()
    }
