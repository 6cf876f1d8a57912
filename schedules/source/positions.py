"""The position of a value in a file: looked up in its nodes only once something is wrong."""

from __future__ import annotations

import yaml

from schedules.errors import Location
from schedules.source.construct import is_merge, merge_sources
from schedules.source.scalars import FLOAT, INT
from schedules.spec.layers import Path


class Positions:
    """The places of one file's keys and values."""

    def __init__(self, file: str, root: yaml.MappingNode) -> None:
        """`root` has been constructed without an error."""
        self.file = file
        self._root = root
        self._indexes: dict[int, dict[str, tuple[yaml.Node, yaml.Node]]] = {}

    def written(self, path: Path) -> Path:
        """The path as far as it was written: a short form (`webhook: URL` for `{url: URL}`) has less of it."""
        return path[: len(self._descent(path)) - 1]

    def of_value(self, path: Path) -> Location:
        """A scalar's own place; that of the key for a mapping or a list, which begins somewhere below it."""
        key, value = self._find(path)
        return self._location(value if isinstance(value, yaml.ScalarNode) and (value.value or value.style) else key)

    def of_key(self, path: Path) -> Location:
        """The place of the key that a path ends at; an item of a list has none and stands for itself."""
        return self._location(self._find(path)[0])

    def number_text(self, path: Path) -> str:
        """A number as it was written, which `3.10` and `022` are not read as; empty for anything else."""
        value = self._find(path)[1]
        return str(value.value) if isinstance(value, yaml.ScalarNode) and value.tag in (INT, FLOAT) else ""

    def _find(self, path: Path) -> tuple[yaml.Node, yaml.Node]:
        return self._descent(path)[-1]

    def _descent(self, path: Path) -> list[tuple[yaml.Node, yaml.Node]]:
        """Key and value of the file, and of each step of the path that was written."""
        found: list[tuple[yaml.Node, yaml.Node]] = [(self._root, self._root)]
        for step in path:
            value = found[-1][1]
            if isinstance(value, yaml.MappingNode) and str(step) in self._index(value):
                found.append(self._index(value)[str(step)])
            elif isinstance(value, yaml.SequenceNode) and isinstance(step, int) and step < len(value.value):
                found.append((value.value[step], value.value[step]))
            else:
                break
        return found

    def _index(self, node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        if id(node) not in self._indexes:
            self._indexes[id(node)] = self._pairs(node)
        return self._indexes[id(node)]

    def _pairs(self, node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        pairs: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if is_merge(key):
                for source in merge_sources(value):
                    merged = self._index(source) | merged
            else:
                pairs[key.value] = (key, value)
        return merged | pairs

    def _location(self, node: yaml.Node) -> Location:
        return Location(self.file, node.start_mark.line + 1, node.start_mark.column + 1)
