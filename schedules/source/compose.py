"""YAML text to a tree of nodes that know their places, bounded in size and depth."""

from __future__ import annotations

from typing import Any

import yaml

from schedules.source.malformed import Malformed, not_text, not_yaml
from schedules.source.scalars import MAP, SEQ, STR, tag_of

DEEPEST = 100
MOST_NODES = 1_000_000


class Composer(yaml.CSafeLoader):
    """libyaml's composer with the core schema's tags, bounded while it composes: before memory or stack run out."""

    def __init__(self, data: bytes) -> None:
        """`data` is valid UTF-8."""
        super().__init__(data)
        self._depth = 0
        self._nodes = 0

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        """The tag of a node without one; `implicit[0]` tells a plain scalar from a quoted one."""
        if kind is yaml.ScalarNode:
            return tag_of(value) if implicit[0] else STR
        return MAP if kind is yaml.MappingNode else SEQ

    def descend_resolver(self, current_node: yaml.Node | None, current_index: Any) -> None:  # noqa: ARG002  PyYAML's signature
        """Called before each node: the place to count."""
        self._depth += 1
        if self._depth > DEEPEST and current_node is not None:
            raise Malformed.at(
                current_node, f"is nested deeper than {DEEPEST} levels; no spec needs that, check the brackets"
            )

    def ascend_resolver(self) -> None:
        """Called after each node."""
        self._depth -= 1
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise too_many()


def too_many() -> Malformed:
    """More values than any spec file needs, written out or through aliases."""
    return Malformed(
        0, 0, f"holds more than {MOST_NODES:,} values, aliases counted each time; split it into several files"
    )


def compose(text: str) -> yaml.MappingNode:
    """The mapping that the one document of a text holds. Raises Malformed."""
    data = text.encode()
    composer = Composer(data)
    try:
        root = _only_document(composer)
    except yaml.MarkedYAMLError as error:
        raise not_yaml(error, text) from None
    except yaml.reader.ReaderError as error:
        raise not_text(data, error.position, "a control character cannot stand in a spec file; remove it") from None
    finally:
        composer.dispose()
    if root is None:
        raise Malformed(0, 0, "holds no spec; write at least `version: 1`, `project:` and `jobs:`")
    if not isinstance(root, yaml.MappingNode):
        raise Malformed.at(root, "is not a spec; write `version: 1`, `project:` and `jobs:`, one key a line")
    return root


def _only_document(composer: Composer) -> yaml.Node | None:
    if not composer.check_node():
        return None
    root = composer.get_node()
    if root and composer.check_node() and (second := composer.get_node()):
        raise Malformed.at(second, "holds a second document; put it into a file of its own")
    return root
