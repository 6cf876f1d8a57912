"""`container`: an image. `activities/handlers/container` runs it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from activities.errors import Problem
from activities.steps.shell_text import shell_places
from activities.steps.template import names_used, outputs_used, secrets_used
from schedules.spec.fields import Items, Word
from schedules.spec.kinds.command import ExitCode, VariableName
from schedules.spec.kinds.kind import KindSpec, Need
from schedules.text.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from activities.registry import HandlerRegistry

ALLOWED = "TICKWRIGHT_ALLOW_CONTAINERS=true"
CONTAINERS = Need(
    "containers",
    lambda offer: ["containers"] if offer.containers else [],
    "no containers are allowed",
    f"start it with {ALLOWED}",
    setting=ALLOWED,
)
_MOUNT = re.compile(r"[^:\s]+:/[^:]*(?::(?:ro|rw))?")
_FOR_SECRETS = {"env", "files"}
SIZE = r"^[0-9]+(\.[0-9]+)?[bkmgBKMG]?$"


def check_image(image: str) -> str:
    """The image itself. Raises ValueError."""
    if not image or re.search(r"\s", image):
        raise ValueError(f'{shown(image)} is no image; write for example "registry.internal/report:1.4"')
    return image


def _check_mount(mount: str) -> str:
    if not _MOUNT.fullmatch(mount):
        raise ValueError(f'{shown(mount)} is no mount; write for example "/srv/data:/data:ro"')
    return mount


def _check_size(text: str) -> str:
    if not re.fullmatch(SIZE, text, re.ASCII):
        raise ValueError(f'{shown(text)} is no size; write for example "512m" or "2g"')
    return text


def _check_path(path: str) -> str:
    if not path.startswith("/") or path.endswith("/"):
        raise ValueError(f'{shown(path)} is no path of a file; write for example "/run/secrets/token"')
    return path


def said_in_shells(container: Mapping[str, Any]) -> Iterator[Problem]:
    """Places in `command` and `args` where a shell in the container would run what an earlier step has said."""
    words = [(name, place) for name in ("command", "args") for place, _ in enumerate(container.get(name) or ())]
    argv = [str(container[name][place]) for name, place in words]
    for place in sorted(shell_places({"argv": argv})):
        for step in sorted(outputs_used(argv[place])):
            message = f'a shell would run what the step `{step}` has said; give it in `env`, and write `"$NAME"` here'
            yield Problem(words[place], message)


class ContainerSpec(KindSpec):
    """An image, run by Docker or Podman on the worker's host. Exit code 0 is success."""

    image: Annotated[Word, AfterValidator(check_image)] = Field(
        description="The image, as for `docker run`.", examples=["registry.internal/report:1.4"]
    )
    command: Items[Word] = Field(
        default=(),
        description="Replaces the image's entry point, one item each.",
        examples=[["python", "-m", "report"]],
    )
    args: Items[Word] = Field(
        default=(),
        description="Arguments; they replace the image's command.",
        examples=[["--day", "{scheduled_at:%F}"]],
    )
    env: dict[VariableName, Word] = Field(
        default_factory=dict, description="Environment variables. Whoever may inspect containers can read them."
    )
    files: dict[Annotated[str, AfterValidator(_check_path)], str] = Field(
        default_factory=dict,
        description="Texts by their paths in the container, such as secrets. Nobody sees them by inspecting it.",
        examples=[{"/run/secrets/token": "${secret:TOKEN}"}],
    )
    workdir: Word = Field(default="", description="Directory to run in; the image's own if left out.")
    user: Word = Field(default="", description="User, or `USER:GROUP`; the image's own if left out.")
    memory: Annotated[str, AfterValidator(_check_size)] | None = Field(
        default=None, description="Most memory, such as `512m`.", examples=["512m"]
    )
    cpus: float | None = Field(default=None, gt=0, description="Most processors, such as 1.5.")
    network: Word = Field(
        default="", description="`none`, `bridge`, `host`, or a network by name; the engine's usual one if left out."
    )
    mounts: Items[Annotated[Word, AfterValidator(_check_mount)]] = Field(
        default=(),
        description="Host paths or volumes, `SOURCE:/TARGET` or `SOURCE:/TARGET:ro`; only those that the worker allows.",
        examples=[["/srv/data:/data:ro"]],
    )
    pull: Literal["missing", "always", "never"] = Field(default="missing", description="When the image is pulled.")
    permanent_exit_codes: Items[ExitCode] = Field(
        default=(), description="Exit codes that no further attempt can mend."
    )

    def described(self) -> str:
        """See KindSpec."""
        return f"container `{' '.join((self.image, *self.command, *self.args))}`"

    @classmethod
    def trial(cls, params: dict[str, Any]) -> dict[str, Any] | None:
        """See KindSpec: whether an engine answers, allows the mounts, and has an image that is never pulled."""
        mounts = [mount for mount in params.get("mounts", ()) if not names_used(mount)]
        tried = {"image": params["image"], "pull": params["pull"], "mounts": mounts}
        return None if names_used(tried) else tried

    @classmethod
    def find_problems(
        cls, params: dict[str, Any], outputs: AbstractSet[str], registry: HandlerRegistry | None
    ) -> Iterator[Problem]:
        """See KindSpec. A shell in the container would run what an earlier step has said."""
        yield from super().find_problems(params, outputs, registry)
        for path, name in secrets_used(params):
            if path[0] not in _FOR_SECRETS:
                message = (
                    f"whoever may inspect containers can read the secret `{name}` here; write it into `files`, which "
                    "nobody sees by inspecting, or into `env`"
                )
                yield Problem(path, message)
        yield from said_in_shells(params)

    @classmethod
    def need(cls, params: dict[str, Any]) -> Need:
        """See KindSpec."""
        del params
        return CONTAINERS
