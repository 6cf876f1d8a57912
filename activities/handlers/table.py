"""The handlers of a worker by their names: `http` is the HANDLER of the module `activities/handlers/http.py`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from activities.contract import KINDS_GROUP
from activities.errors import HandlerError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import aiohttp

    from activities.handlers.calls import Calls
    from activities.registry import HandlerRegistry
    from activities.steps.attempt import Attempt
    from activities.steps.sinks import Sink


@dataclass(frozen=True)
class Containers:
    """What a worker's settings say of `container` steps."""

    #: Whether they may run.
    allowed: bool = False
    #: The engine's Unix socket.
    socket: str = ""
    #: Host paths and volumes that may be mounted.
    mounts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parts:
    """What a worker gives its handlers."""

    #: The functions for `python`.
    registry: HandlerRegistry
    #: Where these functions run.
    calls: Calls
    #: The session for `http`; its owner closes it.
    http_session: Callable[[], aiohttp.ClientSession]
    #: Whether `command` may run programs.
    allow_commands: bool
    #: The workflow types that the worker knows.
    workflows: Collection[str] = ()
    #: Where whole outputs of commands are kept; None for nowhere.
    outputs: Sink | None = None
    containers: Containers = Containers()
    #: Where `kubernetes` steps may run.
    kubernetes_namespaces: tuple[str, ...] = ()


class StepHandler(Protocol):
    """What runs a step: takes the filled in parameters, gives a JSON value."""

    async def run(self, params: dict[str, Any], attempt: Attempt) -> Any:
        """Raises HandlerError; cancelled, it stops what it started within STOP_GRACE and leaves `attempt.evidence`."""


class Handler(StepHandler, Protocol):
    """The handler of a module, made with the parts of its worker."""

    def __init__(self, parts: Parts) -> None:
        """One serves all steps of its kind."""

    def problem(self, params: dict[str, Any]) -> str:
        """Why this worker cannot run a step with these parameters, their templates not filled in; empty where it can."""


@runtime_checkable
class Trying(Protocol):
    """A handler that can try what a step needs outside of its worker."""

    async def trial(self, params: dict[str, Any]) -> str:
        """Why a step with these parameters, secrets filled in, would fail here; empty where it would not. It may take TRIAL_SECONDS."""


class Handlers:
    """Loads each handler when it is first asked for, with all that it imports."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._handlers: dict[str, Handler] = {}

    def has(self, kind: str) -> bool:
        """Whether there is one of that name, and it can be loaded."""
        try:
            self.of(kind)
        except HandlerError:
            return False
        return True

    def of(self, kind: str) -> Handler:
        """The handler of that name. Raises a permanent HandlerError where this worker has none."""
        if kind not in self._handlers:
            self._handlers[kind] = _load(kind)(self.parts)
        return self._handlers[kind]


def _load(kind: str) -> type[Handler]:
    name = f"{__package__}.{kind}"
    try:
        handler: type[Handler] | None = getattr(import_module(name), "HANDLER", None)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        handler = _installed(kind)
    if handler is None:
        raise HandlerError(f"this worker has no handler `{kind}`", permanent=True)
    return handler


def _installed(kind: str) -> type[Handler] | None:
    """The `runner` of the model that a package has for the kind, None where none has. Raises a permanent HandlerError."""
    for point in entry_points(group=KINDS_GROUP, name=kind):
        try:
            module, _, name = point.load().runner.partition(":")
            handler: type[Handler] = getattr(import_module(module), name)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise HandlerError(
                f"the handler of `{kind}` ({point.value}) cannot be loaded: {said}", permanent=True
            ) from error
        return handler
    return None
