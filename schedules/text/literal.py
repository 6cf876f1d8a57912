"""Values of other formats as values of a spec, where braces are templates. Pure."""

from __future__ import annotations

from typing import Any


def literal(value: Any) -> Any:
    """The value with all braces in its texts doubled."""
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, list | tuple):
        return [literal(each) for each in value]
    return {key: literal(each) for key, each in value.items()} if isinstance(value, dict) else value
