"""Faults that pydantic finds in a spec, in plain words: what is wrong; what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from schedules.spec.fields import FieldError, Spec
from schedules.spec.file import SHARED
from schedules.spec.job import JobSpec
from schedules.spec.layers import Path
from schedules.text.nearest import nearest, suggestion
from schedules.text.shown import shown

KEY = "[key]"
MISSING, UNKNOWN = "missing", "extra_forbidden"


def path_of(model: type[Spec], error: ErrorDetails) -> Path:
    """The path that an error is about: without the tags that tell the schedule entries apart."""
    loc = error["loc"]
    if model is JobSpec and loc[:1] == ("schedule",):
        loc = loc[:2] + loc[3:]
    cause = error.get("ctx", {}).get("error")
    return (*loc, *cause.field) if isinstance(cause, FieldError) else loc


def worded(model: type[Spec], error: ErrorDetails, text: str = "") -> str:
    """The message for an error of a model; `text` is the value as it was written (`3.10`), empty where nobody knows."""
    if error["type"] == UNKNOWN:
        return _unknown(model, error["loc"])
    if error["type"] == MISSING:
        return _missing(model, error["loc"])
    words = _WORDS.get(error["type"])
    given = text or shown(error["input"])
    return words(error, given) if words else f"{given} is not allowed here; docs/reference.md lists what is"


def meant(model: type[Spec], error: ErrorDetails) -> Path | None:
    """The key that an unknown one was probably meant to be."""
    close = nearest(str(error["loc"][-1]), keys_of(_model_at(model, error["loc"])))
    return (*path_of(model, error)[:-1], close[0]) if close else None


def written(path: Path) -> str:
    """A path as messages show it: `jobs.invoice-dunning.schedule[1].cron`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def keys_of(model: type[Spec]) -> list[str]:
    """The keys of a model as they stand in a file."""
    return list(_fields(model))


def _unknown(model: type[Spec], loc: Path) -> str:
    known = [key for key in keys_of(_model_at(model, loc)) if (model, loc[:-1], key) != (JobSpec, (), "name")]
    return f"unknown key; {suggestion(str(loc[-1]), known, 'keys')}"


def _missing(model: type[Spec], loc: Path) -> str:
    key = str(loc[-1])
    example = json.dumps((_fields(_model_at(model, loc))[key].examples or ["…"])[0], ensure_ascii=False)
    where = " here or under `defaults`" if model is JobSpec and len(loc) == 1 and key in SHARED else ""
    return f"is missing; write for example `{key}: {example}`{where}"


def _model_at(model: type[Spec], loc: Path) -> type[Spec]:
    """The model that the last step of a path is a key of."""
    choices, in_container = [model], False
    for step in loc[:-1]:
        if in_container:
            in_container = False
        elif len(choices) > 1:
            choices = [choice for choice in choices if step in choice.model_fields]
        else:
            annotation = _fields(choices[0])[str(step)].annotation
            choices, in_container = list(_models_in(annotation)), get_origin(annotation) in {dict, tuple}
    return choices[0]


def _fields(model: type[Spec]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _models_in(annotation: Any) -> Iterator[type[Spec]]:
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _text(error: ErrorDetails, given: str) -> str:
    value = error["input"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'must be text, not the number {given}; put it in quotes: "{given}"'
    if isinstance(value, dict):
        return "must be text, not a mapping; put a value that starts with `{` in quotes"
    return f"must be text, not {given}; write it in quotes"


def _whole_number(_: ErrorDetails, given: str) -> str:
    return f"must be a whole number, not {given}; write for example 3, without quotes"


def _true_or_false(_: ErrorDetails, given: str) -> str:
    return f"must be true or false, not {given}; write one of the two, without quotes"


def _one_of(error: ErrorDetails, given: str) -> str:
    allowed = [word.strip("'") for word in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    return f"{given} is not a value of this key; {suggestion(str(error['input']), allowed, 'values')}"


def _mapping(_: ErrorDetails, given: str) -> str:
    return f"must be a mapping, not {given}; write its keys on lines below it, or in braces"


def _list(_: ErrorDetails, given: str) -> str:
    return f"must be a list, not {given}; write it in brackets, or each item on a line with `- `"


def _empty_text(_: ErrorDetails, __: str) -> str:
    return "is empty; write at least one character"


def _long_text(error: ErrorDetails, _: str) -> str:
    return f"is {len(error['input'])} characters long; write {error['ctx']['max_length']} at most"


def _long_list(error: ErrorDetails, _: str) -> str:
    return f"has {error['ctx']['actual_length']:,} items; write {error['ctx']['max_length']} at most"


def _bound(value: float) -> str:
    return str(int(value) if value == int(value) else value)


def _small(error: ErrorDetails, given: str) -> str:
    return f"{given} is too small; write {_bound(error['ctx']['ge'])} or more"


def _large(error: ErrorDetails, given: str) -> str:
    return f"{given} is too large; write {_bound(error['ctx']['le'])} or less"


def _number(_: ErrorDetails, given: str) -> str:
    return f"must be a number, not {given}; write for example 1.5, without quotes"


def _not_above(error: ErrorDetails, given: str) -> str:
    return f"{given} is too small; write more than {_bound(error['ctx']['gt'])}"


def _not_below(error: ErrorDetails, given: str) -> str:
    return f"{given} is too large; write less than {_bound(error['ctx']['lt'])}"


def _own(error: ErrorDetails, _: str) -> str:
    return str(error["ctx"]["error"])


_WORDS: dict[str, Callable[[ErrorDetails, str], str]] = {
    "string_type": _text,
    "int_type": _whole_number,
    "bool_type": _true_or_false,
    "literal_error": _one_of,
    "dict_type": _mapping,
    "model_type": _mapping,
    "tuple_type": _list,
    "too_long": _long_list,
    "string_too_short": _empty_text,
    "string_too_long": _long_text,
    "float_type": _number,
    "greater_than": _not_above,
    "less_than": _not_below,
    "greater_than_equal": _small,
    "less_than_equal": _large,
    "value_error": _own,
}
