"""What a container's failure to start says about the step. Pure."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from activities.errors import HandlerError

if TYPE_CHECKING:
    from activities.handlers.container.engine import EngineError

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
