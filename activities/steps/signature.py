"""The signature of a `python` handler: its parameters' model, and whether it takes the context."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from activities.context import JobContext

if TYPE_CHECKING:
    from collections.abc import Callable

_WANTED = (
    "write `def job(params: Params, context: JobContext)` with Params a pydantic model; each of the two may be left out"
)


class SignatureError(Exception):
    """A function that cannot be called as a handler; the message goes on after its name."""


@dataclass(frozen=True, slots=True)
class Handler:
    """A registered function: the model of its parameters (None when it takes none) and how to call it."""

    name: str
    function: Callable[..., Any]
    model: type[BaseModel] | None
    takes_context: bool
    is_async: bool

    def call(self, params: BaseModel | None, context: JobContext) -> Any:
        """Call the function; an async one gives its coroutine."""
        arguments: list[Any] = [] if self.model is None else [params]
        return self.function(*arguments, *([context] if self.takes_context else []))


def place(function: Callable[..., Any]) -> str:
    """`module.name (file:line)`, for messages."""
    plain = inspect.unwrap(function)
    shown = f"{plain.__module__}.{getattr(plain, '__qualname__', '?')}"
    code = getattr(plain, "__code__", None)
    return f"{shown} ({code.co_filename}:{code.co_firstlineno})" if code else shown


def read_signature(name: str, function: Callable[..., Any]) -> Handler:
    """How `function` is to be called. Raises SignatureError."""
    if (
        not inspect.isfunction(function)
        or inspect.isgeneratorfunction(function)
        or inspect.isasyncgenfunction(function)
    ):
        raise SignatureError("is not a plain or async function")
    try:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    except NameError as error:
        raise SignatureError(
            f"has an annotation that is not known when it runs ({error}); import it outside of `if TYPE_CHECKING`"
        ) from None
    if any(one.kind not in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD} for one in parameters):
        raise SignatureError(f"takes keyword-only or variable arguments; {_WANTED}")
    model, rest = _model(parameters)
    if rest and rest[0].annotation is JobContext:
        return Handler(name, function, model, takes_context=True, is_async=_is_async(function, rest[1:]))
    return Handler(name, function, model, takes_context=False, is_async=_is_async(function, rest))


def _model(parameters: list[inspect.Parameter]) -> tuple[type[BaseModel] | None, list[inspect.Parameter]]:
    first = parameters[0].annotation if parameters else None
    if isinstance(first, type) and issubclass(first, BaseModel):
        return first, parameters[1:]
    return None, parameters


def _is_async(function: Callable[..., Any], left: list[inspect.Parameter]) -> bool:
    if left:
        raise SignatureError(f"has a parameter `{left[0]}` that cannot be filled; {_WANTED}")
    return inspect.iscoroutinefunction(function)
