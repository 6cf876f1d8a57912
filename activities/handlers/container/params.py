"""What a `container` step asks for, as the engine takes it. Pure."""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from activities.errors import HandlerError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

UNTIL = "tickwright.until"
"""The label that says when the time of the step is over (Unix time)."""
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[bkmg]?)", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_PERIOD = 10**9
"""Docker counts processors in billionths."""
_READABLE = 0o444


def size_in_bytes(text: str) -> int:
    """`512m` as Docker reads it, in powers of 1024. Raises ValueError."""
    if not (found := _SIZE.fullmatch(text.strip())):
        raise ValueError(f'`{text}` is no size; write for example "512m" or "2g"')
    return int(float(found["number"]) * _UNITS[found["unit"].lower()])


def _checked_size(text: str) -> str:
    size_in_bytes(text)
    return text


class ContainerParams(BaseModel):
    """An image and how it is run; `command` stands for its entry point, `args` for its command, as on Kubernetes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    image: str = Field(min_length=1)
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    workdir: str = ""
    user: str = ""
    memory: Annotated[str, AfterValidator(_checked_size)] | None = None
    cpus: float | None = None
    network: str = ""
    mounts: tuple[str, ...] = ()
    pull: Literal["missing", "always", "never"] = "missing"
    permanent_exit_codes: tuple[int, ...] = ()

    @property
    def reference(self) -> str:
        """The image with its tag, `latest` where it says none: without one, Docker would pull every tag."""
        last = self.image.rpartition("/")[2]
        return self.image if ":" in last or "@" in last else f"{self.image}:latest"


def body_of(request: ContainerParams, environment: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, Any]:
    """What the engine is sent to create it."""
    host: dict[str, Any] = {
        "Binds": list(request.mounts),
        "LogConfig": {"Type": "json-file"},
        "RestartPolicy": {"Name": "no"},
    }
    if request.memory:
        size = size_in_bytes(request.memory)
        host |= {"Memory": size, "MemorySwap": size}
    if request.cpus:
        host["NanoCpus"] = round(request.cpus * _PERIOD)
    if request.network:
        host["NetworkMode"] = request.network
    body: dict[str, Any] = {
        "Image": request.reference,
        "Env": [f"{name}={value}" for name, value in environment.items()],
        "Labels": dict(labels),
        "HostConfig": host,
    }
    given: dict[str, Any] = {"Entrypoint": list(request.command), "Cmd": list(request.args)}
    given |= {"WorkingDir": request.workdir, "User": request.user}
    return body | {name: value for name, value in given.items() if value}


def archive_of(files: Mapping[str, str]) -> bytes:
    """A tar archive of texts by their absolute paths; every user of the container may read them."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for path, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size, entry.mode = len(data), _READABLE
            archive.addfile(entry, io.BytesIO(data))
    return written.getvalue()


def check_mounts(mounts: Collection[str], allowed: Collection[str]) -> None:
    """Raises a permanent HandlerError for a mount that the worker's settings do not allow.

    An allowed place is a path with all below it, or the name of a volume; with `:ro` behind it, to be read alone.
    """
    for mount in mounts:
        source, target, mode, *rest = [*mount.split(":"), "", ""]
        if not source or not target.startswith("/") or mode not in {"", "ro", "rw"} or any(rest):
            raise HandlerError(f"the mount `{mount}` is not SOURCE:/TARGET or SOURCE:/TARGET:ro", permanent=True)
        if not any(_is_within(source, place, readonly=mode == "ro") for place in allowed):
            raise HandlerError(
                f"the mount `{mount}` is not allowed on this worker; TICKWRIGHT_CONTAINER_MOUNTS allows: "
                f"{', '.join(allowed) or 'none'}",
                permanent=True,
            )


def _is_within(source: str, place: str, *, readonly: bool) -> bool:
    place, _, mode = place.partition(":")
    if mode == "ro" and not readonly:
        return False
    if not source.startswith("/"):
        return source == place
    source, place = posixpath.normpath(source), posixpath.normpath(place)
    return source == place or source.startswith(place.rstrip("/") + "/")
