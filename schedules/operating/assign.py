"""`--set key=value`: what a single run does otherwise than its job. Pure."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from activities.steps.template import is_dynamic
from schedules.errors import SettingsError
from schedules.text.nearest import suggestion
from schedules.text.shown import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from activities.contract import JobRequest, StepRequest

EXAMPLE = "write handler.parameter=value, for example http.json.customer=42"
STEPS_EXAMPLE = "write step.handler.parameter=value, for example export.http.json.customer=42"


def assigned(request: JobRequest, texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The parameters of the steps that the assignments change, by step, all else as in the job. Raises SettingsError.

    Values are taken literally: no template and no secret in them is filled in.
    """
    changed: dict[str, dict[str, Any]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        step, path = _place(request, text, key.split("."), equals)
        params = changed.setdefault(step.name, deepcopy(step.params))
        _assign(params, path, value, text)
        _check(step, params, path[0], text)
    return changed


def _check(step: StepRequest, params: dict[str, Any], key: str, text: str) -> None:
    """By the spec format's own rules; raises SettingsError. Templates stand for any text there, as they do in a spec."""
    from pydantic import ValidationError

    from schedules.spec.handlers import HandlerSpec

    try:
        HandlerSpec.model_validate({step.handler: params})
    except ValidationError as error:
        told = [each["msg"] for each in error.errors() if key in each["loc"]]
        if told:
            raise SettingsError(f"--set {text}: {told[0].removeprefix('Value error, ')}") from None


def _place(request: JobRequest, text: str, words: list[str], equals: str) -> tuple[StepRequest, list[str]]:
    """The step that is meant, and the path in its parameters."""
    several = len(request.steps) > 1
    example = STEPS_EXAMPLE if several else EXAMPLE
    if not equals or not all(words) or len(words) < (3 if several else 2):
        raise SettingsError(f"--set {text}: {example}")
    steps = {step.name: step for step in request.steps}
    if several and words[0] not in steps:
        raise SettingsError(f"--set {text}: {suggestion(words[0], steps, 'steps')} {example}")
    step = steps[words.pop(0)] if several else request.steps[0]
    if words[0] != step.handler:
        raise SettingsError(
            f"--set {text}: step {step.name} has the handler `{step.handler}`, not {shown(words[0])}; {example}"
        )
    return step, words[1:]


def _assign(params: dict[str, Any], path: list[str], value: str, text: str) -> None:
    if path[0] not in params:
        raise SettingsError(f"--set {text}: {suggestion(path[0], params, 'parameters of the step')}")
    inside: Any = params
    for word in path[:-1]:
        inside = inside[_key(inside, word, text, new=False)]
    key = _key(inside, path[-1], text, new=inside is not params)
    before = inside[key] if not isinstance(inside, dict) or key in inside else None
    inside[key] = _value(before, value, text)


def _key(inside: Any, word: str, text: str, *, new: bool) -> Any:
    if isinstance(inside, dict) and (new or word in inside):
        return word
    if isinstance(inside, list) and word.isdecimal() and int(word) < len(inside):
        return int(word)
    if isinstance(inside, dict):
        raise SettingsError(f"--set {text}: {suggestion(word, inside, 'keys there')}")
    if isinstance(inside, list):
        raise SettingsError(
            f"--set {text}: {shown(word)} is not an index of a list with {len(inside)} items; write 0 for the first item"
        )
    raise SettingsError(f"--set {text}: {shown(inside)} has no keys; write a shorter path")


def _value(before: Any, value: str, text: str) -> Any:
    """Text where there was plain text; else JSON where it is JSON, of the kind that was there."""
    if isinstance(before, str) and not is_dynamic(before):
        return _literal(value)
    try:
        given = json.loads(value)
    except ValueError:
        given = value
    if before is not None and not isinstance(before, str) and not _alike(before, given):
        raise SettingsError(f"--set {text}: its value is {shown(before)}; write {_kind(before)}, as JSON")
    return _literal(given)


def _alike(before: Any, given: Any) -> bool:
    return _kind(before) == _kind(given)


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case _:
            return shown(value)


def _literal(value: Any) -> Any:
    """So that the worker, which fills in templates and secrets, gives back the same."""
    match value:
        case str():
            return value.replace("{", "{{").replace("}", "}}")
        case list():
            return [_literal(item) for item in value]
        case dict():
            return {key: _literal(item) for key, item in value.items()}
        case _:
            return value
