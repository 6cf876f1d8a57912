"""The table of handlers: the fields of `HandlerSpec` are the keys of `run` and of steps, each with the model of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, get_args

from pydantic import ConfigDict, Field, create_model, model_validator

from schedules.spec.fields import Spec
from schedules.spec.kinds.command import CommandSpec, ShortCommand
from schedules.spec.kinds.container import ContainerSpec
from schedules.spec.kinds.http import HttpSpec
from schedules.spec.kinds.installed import installed_kinds
from schedules.spec.kinds.kind import KindSpec, Need, of_kind
from schedules.spec.kinds.kubernetes import KubernetesSpec
from schedules.spec.kinds.python import PythonSpec
from schedules.spec.kinds.sql import SqlSpec
from schedules.spec.kinds.workflow import WorkflowSpec

if TYPE_CHECKING:
    from schedules.spec.direct import DirectSpec


class HandlerSpec(Spec):
    """Exactly one handler."""

    what: ClassVar[str] = "step"

    http: HttpSpec | None = Field(default=None, description="A request to a service.")
    command: Annotated[CommandSpec | None, ShortCommand] = Field(
        default=None, description="A program; a list is short for `{argv: […]}`."
    )
    python: PythonSpec | None = Field(default=None, description="A registered Python function.")
    workflow: WorkflowSpec | None = Field(default=None, description="Your own workflow.")
    container: ContainerSpec | None = Field(default=None, description="An image, run by Docker or Podman.")
    kubernetes: KubernetesSpec | None = Field(
        default=None, description="An image or a pod template, run as a Job of a cluster."
    )
    sql: SqlSpec | None = Field(default=None, description="SQL statements for a database.")

    @property
    def kind(self) -> str:
        """The name of the handler, `http`."""
        return next(name for name in KINDS if getattr(self, name) is not None)

    @property
    def handler(self) -> KindSpec:
        """What the spec says of it."""
        spec: KindSpec = getattr(self, self.kind)
        return spec

    @property
    def direct(self) -> DirectSpec | None:
        """How a schedule starts the workflow by itself, where it does."""
        return self.workflow.direct if self.workflow else None

    @model_validator(mode="after")
    def _one_handler(self) -> Self:
        given = [name for name in KINDS if getattr(self, name) is not None]
        if not given:
            raise ValueError(f"has no handler; write one of {', '.join(KINDS)}")
        if len(given) > 1:
            raise ValueError(
                f"has {len(given)} handlers, {' and '.join(given)}; keep one, a {self.what} runs one thing"
            )
        return self


if _installed := installed_kinds(HandlerSpec.model_fields):
    _fields: Any = {
        name: (kind | None, Field(default=None, description=(kind.__doc__ or name).partition("\n")[0]))
        for name, kind in _installed.items()
    }
    HandlerSpec = create_model("HandlerSpec", __base__=HandlerSpec, **_fields)  # type: ignore[misc]

KINDS: dict[str, type[KindSpec]] = {
    name: kind
    for name, field in HandlerSpec.model_fields.items()
    for kind in get_args(field.annotation)
    if issubclass(kind, KindSpec)
}
"""The model of each kind by its name, which is also that of the module in `activities/handlers` that runs it."""
ONE_HANDLER = ConfigDict(json_schema_extra={"oneOf": [{"required": [name]} for name in KINDS]})


FIRST = frozenset({"http", "command", "python", "workflow"})
"""The kinds that workers of every version have."""


def need_of(kind: str, params: dict[str, Any]) -> Need | None:
    """The requirement on a worker that runs a step of the kind with these parameters; None where each worker can."""
    return KINDS[kind].need(params) or (None if kind in FIRST else of_kind(kind))


class RunSpec(HandlerSpec):
    """What a run does: exactly one handler."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    what: ClassVar[str] = "job"
