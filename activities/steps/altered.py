"""Places in a step's output whose value is not what the step gave back: no later step uses them unawares. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from activities.contract import Altered
from activities.steps.readable import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from activities.steps.readable import Path

MOST_PLACES, MOST_KEY = 50, 200
"""Beyond so many places, or characters of a key, an earlier key of the path stands for all below it."""


class Alterations:
    """Collects the places in one output."""

    def __init__(self) -> None:
        self._why: dict[tuple[str, ...], str] = {}

    def masked(self, path: Path, names: tuple[str, ...]) -> None:
        """Secrets of these names were masked there; none is named where the step has not asked for it."""
        which = f"the secret {' and '.join(f'`{name}`' for name in names)}" if names else "a secret of the worker"
        self._add(
            path,
            f"it contains the text of {which} and was masked before it was stored; hand it over in another way, such as "
            "a file, or choose a value for the secret that does not occur in ordinary text",
        )

    def too_deep(self, path: Path) -> None:
        """What is nested too deep there was not kept."""
        self._add(
            path,
            f"it is nested more than {MAX_DEPTH} levels deep and was not kept; hand it over in another way, such as a file",
        )

    @property
    def found(self) -> list[Altered]:
        """The places, at most MOST_PLACES of them."""
        places = self._why
        while len(places) > MOST_PLACES:
            longest = max(map(len, places)) - 1
            places = {path[:longest]: why for path, why in places.items()}
        return [Altered(list(path), why) for path, why in places.items()]

    def _add(self, path: Path, why: str) -> None:
        keys = [str(key) for key in path]
        longest = next((index for index, key in enumerate(keys) if len(key) > MOST_KEY), len(keys))
        self._why.setdefault(tuple(keys[:longest]), why)


def altered_at(path: Sequence[str], altered: Sequence[Altered]) -> Altered | None:
    """The place that keeps the value at `path` from being used: there, above it or within it; None for none."""
    return next((place for place in altered if _overlap(path, place.path)), None)


def without(value: Any, altered: Sequence[Altered]) -> Any:
    """A copy of the output with None in the altered places."""
    places = [place.path for place in altered]
    return _without(value, places) if places else value


def _without(value: Any, places: list[list[str]]) -> Any:
    if not all(places):
        return None
    below: dict[str, list[list[str]]] = {}
    for first, *rest in places:
        below.setdefault(first, []).append(rest)
    if isinstance(value, dict):
        return {key: _without(item, below[key]) if key in below else item for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item, below[str(at)]) if str(at) in below else item for at, item in enumerate(value)]
    return value


def _overlap(path: Sequence[str], place: Sequence[str]) -> bool:
    """Whether one of them begins with the other."""
    shorter = min(len(path), len(place))
    return list(path[:shorter]) == list(place[:shorter])
