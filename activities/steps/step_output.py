"""Outputs of earlier steps in templates: `{steps.export.output.rows}`, keys of mappings and numbers of list items by dots. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from activities.steps.altered import altered_at

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from activities.contract import Altered

STEPS = "steps."
_OUTPUT = re.compile(r"steps\.(?P<step>[^.{}:]+)\.output(?P<path>(?:\.[^.{}:]+)*)")
_SHOWN = 20
COMMAND_KEYS = frozenset({"exit_code", "stdout", "stderr"})


@dataclass(frozen=True)
class Given:
    """A step's output as it is stored, and the places where that is not what the step gave back."""

    value: Any
    altered: Sequence[Altered] = ()


def step_named(field: str) -> str | None:
    """The step whose output the inside of a template means; None for any other name."""
    found = _OUTPUT.fullmatch(field)
    return found["step"] if found else None


def output_problem(field: str, allowed: Collection[str]) -> str | None:
    """What is wrong with a template that begins with `steps.`; `allowed` has a `steps.NAME` for each that comes before."""
    step = step_named(field)
    known = sorted(name.removeprefix(STEPS) for name in allowed if name.startswith(STEPS))
    if step is None:
        advice = f"write `{{steps.{known[0] if known else 'NAME'}.output}}`, with keys after dots"
        return f"`{{{field}}}` is not an output of a step; {advice}" + (
            "; outputs take no format" if ":" in field else ""
        )
    if step in known:
        return None
    if not known:
        return f"`{{{field}}}`: no step ends before this one starts, so there is no output to use; name one in `needs`"
    return (
        f"`{{{field}}}`: `{step}` is not a step that ends before this one starts; these are: {', '.join(known)}; "
        f"use one of them, or add `{step}` to `needs`"
    )


def pick(field: str, names: Mapping[str, Any]) -> Any:
    """The JSON value that the template leads to; `names` has a Given for each step under `steps.NAME`.

    Raises LookupError that says how far it led and what is there, or why the value there is not the step's own.
    """
    found = _OUTPUT.fullmatch(field)
    if found is None:
        raise LookupError(output_problem(field, names))
    step, path = found["step"], found["path"].split(".")[1:]
    if f"{STEPS}{step}" not in names:
        raise LookupError(f"`{{{field}}}`: the step `{step}` has no output, because it did not succeed")
    given: Given = names[f"{STEPS}{step}"]
    if place := altered_at(path, given.altered):
        raise LookupError(f"`{{{field}}}`: {_place(step, path, place)}{place.why}")
    value = given.value
    for depth, key in enumerate(path):
        here = ".".join((f"steps.{step}.output", *path[:depth]))
        value = _into(value, key, f"`{{{field}}}`: `{here}`")
    return value


def _place(step: str, path: Sequence[str], place: Altered) -> str:
    """Of which value the reason speaks where it is another than the one asked for."""
    return "" if place.path == list(path) else f"`{'.'.join((f'{STEPS}{step}.output', *place.path))}`: "


def as_text(value: Any) -> str:
    """The value amid other text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _into(value: Any, key: str, here: str) -> Any:
    if isinstance(value, dict):
        if key in value:
            return value[key]
        keys = ", ".join(sorted(value)[:_SHOWN]) or "none"
        more = ", …" if len(value) > _SHOWN else ""
        raise LookupError(f"{here} has no `{key}`; its keys are: {keys}{more}{_why_no_keys(value)}")
    if isinstance(value, list):
        if key.isdecimal() and int(key) < len(value):
            return value[int(key)]
        raise LookupError(f"{here} is a list of {len(value)} items and has no `{key}`; the first item is 0")
    raise LookupError(f"{here} is {_kind(value)}, which has no `{key}`")


def _why_no_keys(output: dict[str, Any]) -> str:
    """Of a command whose stdout has said none."""
    if reason := output.get("no_keys"):
        return f"; there are no others, because {reason}"
    return (
        "; there are no others, because the last line of stdout is not a JSON object"
        if output.keys() == COMMAND_KEYS
        else ""
    )


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return f"a text of {len(value)} characters"
    return "null" if value is None else "true or false" if isinstance(value, bool) else "a number"
