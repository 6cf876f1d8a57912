"""Text that no spec can be read from: no YAML, or YAML that no spec needs; in words a user can act on."""

from __future__ import annotations

import json
import re

import yaml

_INVALID = "is not valid YAML"
_NAME_END = re.compile(r"[\s,\]}]")
_VALUE_END = re.compile(r"\s+#|\s*[,\]}]*$")


class Malformed(Exception):  # noqa: N818  the name of a fact, told to users as a Problem
    """A complete message (what is wrong; what to write instead) and its place: line and column from 0."""

    def __init__(self, line: int, column: int, message: str) -> None:
        """Nodes and libyaml's marks count from 0, too."""
        self.line, self.column = line, column
        super().__init__(message)

    @classmethod
    def at(cls, node: yaml.Node, message: str) -> Malformed:
        """At the start of a node."""
        return cls(node.start_mark.line, node.start_mark.column, message)


def not_yaml(error: yaml.MarkedYAMLError, text: str) -> Malformed:
    """A syntax error, with advice that depends on the character it happened at."""
    mark = error.problem_mark or error.context_mark
    begin = error.context_mark if _character(text, error.context_mark) == "*" else mark
    place = (begin.line, begin.column) if begin else (0, 0)
    return Malformed(*place, _advice(error, _character(text, begin), _rest_of_line(text, begin)))


def not_text(data: bytes, position: int, reason: str) -> Malformed:
    """A byte that cannot stand in a spec file; `position` counts bytes."""
    before = data[:position].decode("utf-8", "replace")
    line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
    return Malformed(line, column, reason)


def _advice(error: yaml.MarkedYAMLError, character: str, rest: str) -> str:
    undefined = isinstance(error, yaml.composer.ComposerError)
    name = _NAME_END.split(rest, maxsplit=1)[0]
    match character:
        case "*" if undefined:
            return f"the alias `{name}` has no anchor above it; define it first, or put the value in quotes"
        case "&" if undefined:
            return f"the anchor `{name}` is defined twice; give one of them another name"
        case "*" | "@" | "%" | "`":
            value = json.dumps(_VALUE_END.split(rest, maxsplit=1)[0], ensure_ascii=False)
            return f"a value that starts with `{character}` must be in quotes; write {value}"
        case "\t":
            return f"{_INVALID}: a tab cannot indent; use spaces"
        case ":":
            return f"{_INVALID}: no key can stand here; check the indentation, or put a value that holds `: ` in quotes"
        case _:
            return f"{_INVALID}: {error.problem}{_begun(error)}; check quotes, brackets and indentation"


def _begun(error: yaml.MarkedYAMLError) -> str:
    start = error.context_mark
    return f" {error.context} that begins in line {start.line + 1}" if start and error.context else ""


def _character(text: str, mark: yaml.Mark | None) -> str:
    return _rest_of_line(text, mark)[:1]


def _rest_of_line(text: str, mark: yaml.Mark | None) -> str:
    lines = text.split("\n", mark.line + 1) if mark else []
    return (
        lines[mark.line][mark.column :].rstrip() or lines[mark.line][mark.column :]
        if mark and mark.line < len(lines)
        else ""
    )
