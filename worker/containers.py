"""Where the container engine of the worker's host is, and what steps may do with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from activities.handlers.table import Containers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from worker.settings import WorkerSettings

_UNIX = "unix://"
_USUAL = ("/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock")


def containers_of(settings: WorkerSettings, environ: Mapping[str, str] = os.environ) -> Containers:
    """By the settings, else by the variables and places of Docker and Podman themselves."""
    return Containers(
        settings.allow_containers, settings.container_socket or _socket(environ), settings.container_mounts
    )


def _socket(environ: Mapping[str, str]) -> str:
    if (host := environ.get("DOCKER_HOST", "")).startswith(_UNIX):
        return host.removeprefix(_UNIX)
    rootless = [f"{folder}/podman/podman.sock"] if (folder := environ.get("XDG_RUNTIME_DIR")) else []
    return next((place for place in (*_USUAL, *rootless) if Path(place).exists()), _USUAL[0])
