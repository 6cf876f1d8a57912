"""The keys that a command's output says: those of the JSON object which the whole of its stdout is, or its last line. Pure."""

from __future__ import annotations

from typing import Any

from activities.steps.output import MAX_OUTPUT, bound_output, stored_size
from activities.steps.readable import read_json

_BOM = "\ufeff"
_ROOM = 1024
"""Bytes of an output beside its keys and texts, and for masks that are longer than what they stand for."""


def keys_of(stdout: bytes, *, cut: bool) -> tuple[dict[str, Any], str]:
    """The keys and, where there seem to be some that could not be read, why. `cut`: more came before `stdout`.

    Lines end at LF alone: JSON may hold any other line separator.
    """
    text = stdout.decode(errors="replace")
    before, _, line = text.rstrip().rpartition("\n")
    line = line.strip().removeprefix(_BOM)
    whole = [] if cut else [text.removeprefix(_BOM)]
    for document in (*whole, line, line.rpartition("\r")[2]):
        try:
            found = read_json(document)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found, ""
    return {}, _fault(line, too_long=cut and not before)


def _fault(line: str, *, too_long: bool) -> str:
    if too_long:
        return "the last line of stdout is too long to be kept"
    if not line.startswith("{"):
        return ""
    try:
        read_json(line)
    except ValueError as error:
        return f"the last line of stdout is not valid JSON: {error}"
    return ""


def with_keys(keys: dict[str, Any], fault: str, code: int, texts: dict[str, str]) -> dict[str, Any]:
    """A command's output: the texts are cut further where the keys need the room, and keys without room are left out."""
    size = stored_size(keys)
    if size > MAX_OUTPUT - _ROOM:
        keys, fault, size = (
            {},
            f"the last line of stdout takes {size} bytes; at most {MAX_OUTPUT} of an output are kept",
            0,
        )
    room = MAX_OUTPUT - _ROOM - size
    if sum(map(stored_size, texts.values())) > room:
        texts = {name: bound_output(text, room // len(texts)) for name, text in texts.items()}
    return {**keys, "exit_code": code, **texts, **({"no_keys": fault} if fault else {})}
