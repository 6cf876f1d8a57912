"""Nodes to plain dicts, lists and scalars, with anchors and merge keys; every key is text and stands once."""

from __future__ import annotations

from typing import Any

import yaml

from schedules.source.compose import DEEPEST, MOST_NODES, too_many
from schedules.source.malformed import Malformed
from schedules.source.scalars import MAP, PREFIX, SCALARS, SEQ, STR, value_of

LONGEST_TEXT = 131_071
"""Characters: as many as Linux takes as one argument of a program, and more than anybody writes by hand."""
LONGEST_KEY = 1_000
_AT_MOST = f"write {LONGEST_TEXT:,} at most, and hand larger data over in a file"


class Constructor:
    """Builds the values of one file: an alias shares what it stands for, and counts as much."""

    def __init__(self) -> None:
        """Starts with nothing built."""
        self._built: dict[yaml.Node, tuple[Any, int]] = {}
        self._count = 0
        self._depth = 0

    def value(self, node: yaml.Node) -> Any:
        """The value of a node and all below. Raises Malformed."""
        if node.__class__ is yaml.ScalarNode:
            if len(node.value) > LONGEST_TEXT:
                raise Malformed.at(node, f"is a text of {len(node.value):,} characters; {_AT_MOST}")
            return node.value if node.tag == STR else _scalar(node)
        value, size = self._built.get(node) or self._build(node)
        self._count += size
        if self._count > MOST_NODES:
            raise too_many()
        return value

    def _build(self, node: yaml.Node) -> tuple[Any, int]:
        """The value of a mapping or a list, and how much it counts beside what was counted below it just now."""
        before = self._count
        self._depth += 1
        if self._depth > DEEPEST:
            raise Malformed.at(node, "holds itself through an alias, or is nested too deep; write it without the alias")
        value = self._mapping(node) if node.__class__ is yaml.MappingNode else self._sequence(node)
        self._depth -= 1
        self._built[node] = value, self._count - before + len(node.value)
        return value, len(node.value)

    def _sequence(self, node: yaml.Node) -> list[Any]:
        if node.tag != SEQ:
            raise _unknown_tag(node)
        return [self.value(item) for item in node.value]

    def _mapping(self, node: yaml.Node) -> dict[str, Any]:
        if node.tag != MAP:
            raise _unknown_tag(node)
        value: dict[str, Any] = {}
        merge: yaml.Node | None = None
        for key_node, value_node in node.value:
            key = key_node.value
            if len(key) > LONGEST_KEY:
                raise Malformed.at(
                    key_node, f"is a key of {len(key):,} characters or items; write {LONGEST_KEY:,} at most"
                )
            if key_node.__class__ is not yaml.ScalarNode:
                raise Malformed.at(key_node, "a key must be text; put it in quotes if it starts with a bracket")
            if key in value or (merge and is_merge(key_node)):
                raise _duplicate(node, key_node)
            if key == "<<" and is_merge(key_node):
                merge = value_node
            else:
                value[key] = self.value(value_node)
        return value if merge is None else self._merged(merge) | value

    def _merged(self, node: yaml.Node) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for source in merge_sources(node):
            value = self.value(source) | value
        return value


def is_merge(key_node: yaml.Node) -> bool:
    """Whether a key is YAML's `<<`; in quotes it is a key like any other."""
    return isinstance(key_node, yaml.ScalarNode) and key_node.value == "<<" and not key_node.style


def merge_sources(node: yaml.Node) -> list[yaml.Node]:
    """The mappings that a merge key names, strongest first. Raises Malformed."""
    sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
    for source in sources:
        if not isinstance(source, yaml.MappingNode):
            raise Malformed.at(source, "`<<` merges mappings only; write the alias of one, or a list of such aliases")
    return list(sources)


def _scalar(node: yaml.Node) -> object:
    if node.tag not in SCALARS:
        raise _unknown_tag(node)
    try:
        return value_of(node.tag, node.value)
    except ValueError as error:
        raise Malformed.at(node, f"`{node.value[:60]}` {error}") from None


def _unknown_tag(node: yaml.Node) -> Malformed:
    shown = node.tag.replace(PREFIX, "!!")
    return Malformed.at(
        node, f"the tag `{shown[:60]}` is not known here; remove it, or put a value that starts with `!` in quotes"
    )


def _duplicate(node: yaml.Node, key_node: yaml.Node) -> Malformed:
    first = next(key for key, _ in node.value if key.value == key_node.value)
    return Malformed.at(
        key_node, f"the key `{key_node.value[:60]}` stands in line {first.start_mark.line + 1} already; keep one"
    )
