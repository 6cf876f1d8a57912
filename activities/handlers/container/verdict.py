"""What a container's end, or its failure to start, says about the step. Pure."""

from __future__ import annotations

import signal
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from activities.errors import HandlerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from activities.handlers.container.engine import EngineError
    from activities.handlers.container.params import ContainerParams

_KILLED = 137
_OVER = 128
"""Exit codes above it are a signal's number and this."""
_FAULTS_OF_THE_SPEC = (
    "executable file",
    "no such file or directory",
    "permission denied",
    "exec format error",
    "no such image",
    "no command",
    "unable to find user",
    "no users found",
)
"""Words of engines and runtimes, for which Podman has no status of its own."""


def refused(error: EngineError, image: str) -> HandlerError:
    """Of a container that could not be made or started: mostly a fault of the spec."""
    faulty = error.status in {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND}
    permanent = faulty or any(words in error.message.lower() for words in _FAULTS_OF_THE_SPEC)
    return HandlerError(f"`{image}` could not be started: {error.message}", permanent=permanent, kind="not started")


def ended_badly(
    request: ContainerParams, code: int, state: Mapping[str, Any], last_line: str, details: dict[str, Any]
) -> HandlerError:
    """Of an exit code other than 0; `state` is what the engine says of it. Runtimes do not always say that memory was the cause."""
    kind, limit = f"exit code {code}", request.memory
    message = f"`{request.image}` ended with exit code {code}{_signal(code)}"
    if state.get("OOMKilled"):
        message, kind = f"`{request.image}` took more memory than {limit or 'there is'} (OOMKilled)", "OOMKilled"
    elif code == _KILLED and limit:
        message += f", as happens to what takes more memory than its limit of {limit}"
    permanent = code in request.permanent_exit_codes
    return HandlerError(message + last_line, permanent=permanent, details={"exit_code": code, **details}, kind=kind)


def _signal(code: int) -> str:
    try:
        return f" ({signal.Signals(code - _OVER).name})" if code > _OVER else ""
    except ValueError:
        return ""
