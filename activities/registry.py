"""`python` handlers: the decorator that marks a function, and the registry of the marked functions of some modules.

Light: lint loads it without Temporal.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar, overload

from activities.errors import HandlerError, Problem
from activities.steps.params import param_problems
from activities.steps.signature import Handler, SignatureError, place, read_signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

_NAME = "__tickwright_handler__"
_F = TypeVar("_F", bound="Callable[..., Any]")


@overload
def handler(function: _F, /) -> _F: ...
@overload
def handler(name: str, /) -> Callable[[_F], _F]: ...
def handler(given: Any, /) -> Any:
    """Mark a function as a `python` handler under its own or the given name; it stays the function that it was.

    Its parameters, each optional: one annotated with a pydantic model, then `context: JobContext`.
    """
    if isinstance(given, str):
        return lambda function: _mark(function, given)
    return _mark(given, given.__name__)


def _mark(function: _F, name: str) -> _F:
    setattr(function, _NAME, name)
    return function


class RegistryError(Exception):
    """Modules whose handlers cannot be registered; `problems` says each reason in plain words."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class HandlerRegistry:
    """The `python` handlers of this worker, by name."""

    def __init__(self, handlers: Iterable[Handler] = ()) -> None:
        self._handlers = {entry.name: entry for entry in handlers}

    @classmethod
    def from_modules(cls, modules: Iterable[ModuleType]) -> HandlerRegistry:
        """Collect the marked functions among the attributes of `modules`.

        Raises RegistryError for a name that two functions claim and for signatures that cannot be called, all at once.
        """
        functions: dict[str, Callable[..., Any]] = {}
        handlers: list[Handler] = []
        problems: list[str] = []
        for name, function in (found for module in modules for found in _marked(module)):
            known = functions.setdefault(name, function)
            if known is not function:
                problems.append(
                    f"the handler `{name}` is defined twice: in {place(known)} and in {place(function)}; rename one"
                )
        for name, function in functions.items():
            try:
                handlers.append(read_signature(name, function))
            except SignatureError as error:
                problems.append(f"the handler `{name}` in {place(function)} {error}")
        if problems:
            raise RegistryError(problems)
        return cls(handlers)

    @property
    def names(self) -> list[str]:
        """Registered names, sorted."""
        return sorted(self._handlers)

    def get(self, name: str) -> Handler:
        """The handler of that name. Raises a permanent HandlerError that names those there are."""
        if name not in self._handlers:
            raise HandlerError(self._unknown(name), permanent=True)
        return self._handlers[name]

    def check_params(self, name: str, params: Any) -> list[Problem]:
        """For lint: what is wrong with a `python` step. A string with a template or secret in it counts as right."""
        if name not in self._handlers:
            return [Problem(("handler",), self._unknown(name))]
        model = self._handlers[name].model
        if model is None:
            return [Problem(("params",), f"the handler `{name}` takes no parameters; remove them")] if params else []
        return [Problem(("params", *problem.path), problem.message) for problem in param_problems(model, params)]

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name, self._handlers, n=3)
        if near:
            return f"there is no handler `{name}`; did you mean {' or '.join(f'`{other}`' for other in near)}?"
        known = ", ".join(self.names) or "none"
        return (
            f"there is no handler `{name}`; the registered handlers are: {known}; is its module in TICKWRIGHT_MODULES?"
        )


def _marked(module: ModuleType) -> Iterable[tuple[str, Callable[..., Any]]]:
    for value in vars(module).values():
        name = getattr(value, "__dict__", {}).get(_NAME)
        if isinstance(name, str) and callable(value):
            yield name, value
