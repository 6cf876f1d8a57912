"""`kubernetes`: an image or a pod template, run as a Job of a cluster. `activities/handlers/kubernetes` runs it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from activities.errors import Problem
from activities.steps.template import names_used, secrets_used
from schedules.spec.fields import AtLeastTenMinutes, FieldError, Items, Word
from schedules.spec.kinds.command import ExitCode, VariableName
from schedules.spec.kinds.container import check_image, said_in_shells
from schedules.spec.kinds.files import READ_VALUE, read_named
from schedules.spec.kinds.kind import KindSpec, Need
from schedules.spec.kinds.pod_faults import pod_faults
from schedules.text.literal import literal
from schedules.text.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from activities.registry import HandlerRegistry

NAMESPACES = "TICKWRIGHT_KUBERNETES_NAMESPACES"
NAMESPACE = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
MEMORY = r"^[0-9]+(\.[0-9]+)?([KMGT]i|[kMGT])?$"
SECRET = r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[-._a-zA-Z0-9]+$"  # noqa: S105 - a pattern
_SHORT = frozenset(
    {"command", "args", "env", "secrets", "memory", "cpus", "resources", "service_account", "node_selector", "pull"}
    | {"image_pull_secrets"}
)
_PROGRAM = ("command", "args", "env")


def _check_namespace(name: str) -> str:
    if not re.fullmatch(NAMESPACE, name, re.ASCII):
        raise ValueError(f'{shown(name)} is no namespace; write for example "reports"')
    return name


def _check_memory(text: str) -> str:
    if not re.fullmatch(MEMORY, text, re.ASCII):
        raise ValueError(f'{shown(text)} is no size on Kubernetes; write for example "512Mi" or "2Gi"')
    return text


def _check_secret(place: str) -> str:
    if not re.fullmatch(SECRET, place, re.ASCII):
        raise ValueError(f'{shown(place)} is no key of a Secret; write SECRET/KEY, for example "warehouse/password"')
    return place


class KubernetesSpec(KindSpec):
    """An image or a pod template, run as a Job of the worker's cluster. Exit code 0 is success."""

    namespace: Annotated[str, AfterValidator(_check_namespace)] = Field(
        description="Namespace of the Job; the worker must allow it.", examples=["reports"]
    )
    image: Annotated[Word, AfterValidator(check_image)] | None = Field(
        default=None, description="The image.", examples=["registry.internal/report:1.4"]
    )
    command: Items[Word] = Field(default=(), description="Replaces the image's entry point, one item each.")
    args: Items[Word] = Field(
        default=(),
        description="Arguments; they replace the image's command.",
        examples=[["--day", "{scheduled_at:%F}"]],
    )
    env: dict[VariableName, Word] = Field(
        default_factory=dict, description="Environment variables. Whoever may read Jobs can read them."
    )
    secrets: dict[VariableName, Annotated[Word, AfterValidator(_check_secret)]] = Field(
        default_factory=dict,
        description="Environment variables from Secrets of the namespace, as `SECRET/KEY`.",
        examples=[{"DB_PASSWORD": "warehouse/password"}],
    )
    memory: Annotated[str, AfterValidator(_check_memory)] | None = Field(
        default=None, description="Memory that is requested, and its limit, such as `512Mi`.", examples=["512Mi"]
    )
    cpus: float | None = Field(
        default=None, gt=0, description="Processors that are requested, and their limit, such as 1.5."
    )
    resources: dict[Literal["requests", "limits"], dict[str, str | int | float]] = Field(
        default_factory=dict,
        description="`requests` and `limits` as in a container of Kubernetes, instead of `memory` and `cpus`.",
    )
    service_account: Word = Field(default="", description="Service account of the pod; without one it gets no token.")
    node_selector: dict[str, Word] = Field(default_factory=dict, description="Labels that its node must have.")
    image_pull_secrets: Items[Word] = Field(default=(), description="Secrets with the credentials of registries.")
    pull: Literal["missing", "always", "never"] | None = Field(
        default=None, description="When the image is pulled; by default as Kubernetes does it."
    )
    template: dict[str, Any] | None = Field(
        default=None, description="A whole pod template, with `metadata` and `spec`, instead of an image."
    )
    template_file: str | None = Field(
        default=None,
        description="File with the pod template, or a Pod, by its path from the spec file's folder. It is read by `sync`.",
        examples=["../pods/report.yaml"],
    )
    permanent_exit_codes: Items[ExitCode] = Field(
        default=(), description="Exit codes that no further attempt can mend."
    )
    keep_failed: AtLeastTenMinutes = Field(
        default=timedelta(days=1), description="How long Kubernetes keeps a Job that has failed, and its log."
    )

    @model_validator(mode="after")
    def _one_pod(self, info: ValidationInfo) -> Self:
        given = [key for key in ("image", "template", "template_file") if getattr(self, key) is not None]
        if not given:
            raise FieldError("image", "is missing; write it, or `template` or `template_file`")
        if len(given) > 1:
            raise FieldError(given[1], f"there is `{given[0]}` already; keep one of the two")
        short = sorted(_SHORT & self.model_fields_set)
        if self.image is None and short:
            raise FieldError(short[0], f"belongs into the pod template; write it there, not beside `{given[0]}`")
        if self.resources and (self.memory or self.cpus):
            raise FieldError("resources", "there is `memory` or `cpus` already; write all in `resources`")
        if self.template_file is None:
            return self
        read = read_named(info, READ_VALUE, "template_file", self.template_file, "template={…}")
        # What a file says is Kubernetes' own, and no template of ours.
        return self.model_copy(update={"template": literal(read)})

    def step_params(self) -> dict[str, Any]:
        """See KindSpec; durations are in seconds."""
        return super().step_params() | {"keep_failed": self.keep_failed.total_seconds()}

    def described(self) -> str:
        """See KindSpec."""
        what = (
            " ".join((self.image, *self.command, *self.args))
            if self.image
            else self.template_file or _images(self.template)
        )
        return f"kubernetes `{what}` in `{self.namespace}`"

    @classmethod
    def trial(cls, params: dict[str, Any]) -> dict[str, Any] | None:
        """See KindSpec: a dry run, without the words that a run alone knows."""
        tried = {key: value for key, value in params.items() if key not in _PROGRAM}
        if "template" in tried:
            tried["template"] = _without_program(tried["template"])
        return None if names_used(tried) else tried

    @classmethod
    def find_problems(
        cls, params: dict[str, Any], outputs: AbstractSet[str], registry: HandlerRegistry | None
    ) -> Iterator[Problem]:
        """See KindSpec."""
        yield from super().find_problems(params, outputs, registry)
        for path, name in secrets_used(params):
            message = (
                f"whoever may read Jobs could read the secret `{name}` here; put it into a Secret of the namespace, "
                'and write `secrets: {NAME: "SECRET/KEY"}`'
            )
            yield Problem(path, message)
        if "template" not in params:
            yield from said_in_shells(params)
            return
        for problem in pod_faults(params["template"], params["namespace"]):
            if "template_file" in params:
                yield Problem(("template_file",), f"`{'.'.join(map(str, problem.path))}` {problem.message}")
            else:
                yield Problem(("template", *problem.path), problem.message)

    @classmethod
    def need(cls, params: dict[str, Any]) -> Need:
        """See KindSpec."""
        namespace, setting = params["namespace"], f"{NAMESPACES}={params['namespace']}"
        lack = f"no Jobs are allowed in the namespace `{namespace}`"
        return Need(namespace, lambda offer: offer.namespaces, lack, f"start it with {setting}", setting=setting)


def _without_program(template: dict[str, Any]) -> dict[str, Any]:
    spec = dict(template["spec"])
    for key in ("initContainers", "containers"):
        if key in spec:
            spec[key] = [{name: item for name, item in each.items() if name not in _PROGRAM} for each in spec[key]]
    return {**template, "spec": spec}


def _images(template: Any) -> str:
    """The images of a template that may not be one."""
    spec = template.get("spec") if isinstance(template, dict) else None
    containers = spec.get("containers") if isinstance(spec, dict) else None
    return ", ".join(str(each.get("image")) for each in containers or () if isinstance(each, dict)) or "a pod template"
