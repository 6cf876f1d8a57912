"""Parameters against their pydantic model, with what is wrong in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import AliasChoices, AliasPath, BaseModel, ValidationError

from activities.errors import HandlerError, Problem
from activities.steps.template import is_dynamic, strings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_Model = TypeVar("_Model", bound=BaseModel)
_SHOWN = 80


def parse_params(model: type[_Model], params: Any) -> _Model:
    """`params` as the model, after templates and secrets are filled in. Raises a permanent HandlerError."""
    try:
        return model.model_validate(params)
    except ValidationError as error:
        # Without the values: one with a secret in it, cut short, could not be redacted any more.
        found = "; ".join(
            _line(one) for one in error.errors(include_url=False, include_context=False, include_input=False)
        )
    raise HandlerError(f"the parameters are wrong: {found}", permanent=True)


def param_problems(model: type[BaseModel], params: Any) -> list[Problem]:
    """What no filling in of templates can make right, and keys that the model would ignore."""
    unknown = _ignored_keys(model, params)
    try:
        model.model_validate(params)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        return unknown + [
            Problem(_path(one, params), _message(one)) for one in errors if not _may_come_right(one, params)
        ]
    return unknown


def _ignored_keys(model: type[BaseModel], params: Any) -> list[Problem]:
    """A misspelt optional parameter passes pydantic's default `extra` unseen."""
    if model.model_config.get("extra") is not None or not isinstance(params, dict):
        return []
    known: set[str] = set()
    for name, field in model.model_fields.items():
        if isinstance(field.validation_alias, AliasPath | AliasChoices):
            return []
        known |= {name, field.alias or name, field.validation_alias or name}
    return [
        Problem((key,), f"is not a parameter; the parameters are: {', '.join(sorted(known)) or 'none'}")
        for key in params
        if key not in known
    ]


def _may_come_right(error: ErrorDetails, params: Any) -> bool:
    """Whether the error is about a value that is not yet what it will be."""
    value = _walk(params, error["loc"])[1]
    if isinstance(value, str):
        return is_dynamic(value)
    judged_as_a_whole = error["type"] in {"value_error", "assertion_error"} or "." in error["type"]
    return judged_as_a_whole and any(is_dynamic(text) for _, text in strings(value))


def _walk(value: Any, location: tuple[str | int, ...]) -> tuple[tuple[str | int, ...], Any]:
    """The path of `location` through the value, and where it ends; names of union branches are passed over."""
    path: tuple[str | int, ...] = ()
    for key in location:
        inside_mapping = isinstance(value, dict) and key in value
        if inside_mapping or (isinstance(value, list | tuple) and isinstance(key, int) and key < len(value)):
            path, value = (*path, key), value[key]
    return path, value


def _path(error: ErrorDetails, params: Any) -> tuple[str | int, ...]:
    if error["type"] in {"missing", "extra_forbidden"}:
        return error["loc"]
    return _walk(params, error["loc"])[0]


def _message(error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return "is not a parameter; remove it"
    message = error["msg"].removeprefix("Value error, ")
    if "input" not in error:
        return message
    shown = repr(error["input"])
    return f"{message}; it is {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}"


def _line(error: ErrorDetails) -> str:
    location = ".".join(map(str, error["loc"])) or "params"
    return f"`{location}` {_message(error)}"
