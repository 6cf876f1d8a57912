"""JSON text as the YAML that libyaml reads alike.

libyaml knows no surrogate pairs, refuses some characters that JSON allows in text, and takes others for line breaks.
"""

from __future__ import annotations

import json
import re

import yaml

from schedules.source.malformed import Malformed
from schedules.text.shown import shown

_LITERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_ZEROS = re.compile(r"-?0[0-9]+")
_DIFFERS = re.compile(
    r"\\(?:u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})|.)"
    "|(?P<raw>[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff])"
)


def is_json(text: str) -> bool:
    """Whether a text without a name that says so is JSON."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def check_json(text: str, root: yaml.Node) -> None:
    """Refuses what YAML alone reads: `NaN`, `007`, text in single quotes, a comma at the end. Raises Malformed."""
    if stray := _not_json(root):
        raise Malformed.at(stray, f"{shown(stray.value)} is not JSON; {_advice(stray)}")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        extra = text[: error.pos].rstrip().endswith(",")
        advice = "take away the comma before it" if extra else "mend it, or name the file .yaml"
        raise Malformed(error.lineno - 1, error.colno - 1, f"is not JSON; {advice}") from None


def _advice(stray: yaml.ScalarNode) -> str:
    if stray.style:
        return "put it in double quotes"
    if _ZEROS.fullmatch(stray.value):
        return f'write {stray.value.replace(stray.value.lstrip("-"), stray.value.lstrip("-0") or "0")} for the number, or "{stray.value}" for the text'
    return "put it in quotes if it is text"


def _not_json(root: yaml.Node) -> yaml.ScalarNode | None:
    """The first value or key that only YAML reads as something: `NaN` would be a text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            if node.style not in {None, "", '"'} or (not node.style and not _LITERAL.fullmatch(node.value)):
                return node
        elif isinstance(node, yaml.MappingNode):
            waiting += [each for pair in reversed(node.value) for each in reversed(pair)]
        else:
            waiting += reversed(node.value)
    return None


def as_yaml(text: str) -> str:
    """The same values; only the column of what follows a replaced character in its line differs."""
    return _DIFFERS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    if found["raw"]:
        return f"\\u{ord(found['raw']):04x}"
    if found["high"]:
        return f"\\U{0x10000 + (int(found['high'], 16) - 0xD800) * 0x400 + int(found['low'], 16) - 0xDC00:08x}"
    return found[0]
