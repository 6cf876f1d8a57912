"""The spec format's handlers: what a run can do."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from schedules.spec.direct import DirectSpec
from schedules.spec.fields import FieldError, Items, SomeItems, Spec, Word
from schedules.text.shown import shown

HANDLERS = ("http", "command", "python", "workflow")
_TEMPLATE = re.compile(r"\$?\{[^{}]*\}")
_USER = re.compile(r"https?://[^/?#]*@")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _check_url(url: str) -> str:
    """Absolute http(s), or wholly a secret; a template stands for any characters."""
    if url.startswith("${secret:"):
        return url
    filled = _TEMPLATE.sub("1", url)
    try:
        parts = urlsplit(filled)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or re.search(r"[\s\x00-\x1f\x7f]", filled):
        raise ValueError(f'{shown(url)} is not an absolute URL; write for example "https://billing.internal/dunning"')
    return url


def _check_header_name(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise ValueError(f'{shown(name)} is not a header name; write for example "X-Request-Source"')
    return name


def _check_header_value(value: str) -> str:
    if re.search(r"[\r\n\0]", value):
        raise ValueError("a header's value is one line; remove the line break")
    return value


def _check_variable_name(name: str) -> str:
    if not name or re.search(r"[=\0]", name):
        raise ValueError(f'{shown(name)} is not the name of an environment variable; write for example "PGHOST"')
    return name


def _single_as_list(value: object) -> object:
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


def _argv_as_mapping(value: object) -> object:
    if isinstance(value, str):
        raise ValueError('must be a list; write for example ["./export.sh", "--all"], or {argv: ["…"], shell: true}')  # noqa: TRY004
    return {"argv": value} if isinstance(value, list | tuple) else value


HeaderName = Annotated[str, AfterValidator(_check_header_name)]
HeaderValue = Annotated[str, AfterValidator(_check_header_value)]
VariableName = Annotated[str, AfterValidator(_check_variable_name)]
Status = Annotated[int, Field(ge=100, le=599)]
Argv = Annotated[list[str], Field(min_length=1)]
ExitCode = Annotated[int, Field(ge=1, le=255)]


class HttpSpec(Spec):
    """A request to a service.

    4xx is permanent except 408, 425 and 429; other unexpected answers and broken connections are retried.
    """

    url: Annotated[str, AfterValidator(_check_url)] = Field(
        description="Absolute `http` or `https` address; templates and secrets may stand in it.",
        examples=["https://billing.internal/dunning"],
    )
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = Field(
        default="POST", description="Method of the request."
    )
    headers: dict[HeaderName, HeaderValue] = Field(
        default_factory=dict, description="Headers, beside those always sent."
    )
    json_body: Any = Field(default=None, alias="json", description="Body, sent as JSON.")
    body: str | None = Field(default=None, description="Body, sent as it is; instead of `json`.")
    expect_status: Annotated[
        Items[Status], BeforeValidator(_single_as_list, json_schema_input_type=Status | list[Status])
    ] = Field(default=(), description="Status or statuses that count as success; none given means any 2xx.")

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if self.json_body is not None and self.body is not None:
            raise FieldError("body", "there is a `json` body already; keep one of the two")
        return self

    @model_validator(mode="after")
    def _one_authorization(self) -> Self:
        if _USER.match(self.url) and (
            name := next((key for key in self.headers if key.lower() == "authorization"), "")
        ):
            message = "the address has a user or password, which are sent as this header, too; keep one of the two"
            raise FieldError(f"headers.{name}", message)
        return self


class CommandSpec(Spec):
    """A program. Exit code 0 is success."""

    argv: SomeItems[Word] = Field(
        description="The program and its arguments, one item each.",
        examples=[["./export.sh", "--all"]],
        json_schema_extra={"minItems": 1},
    )
    env: dict[VariableName, Word] = Field(
        default_factory=dict, description="Environment variables added to the worker's."
    )
    cwd: Word | None = Field(default=None, description="Directory to run in; the worker's own if left out.")
    shell: bool = Field(default=False, description="Give the one string in `argv` to `/bin/sh -c`.")
    permanent_exit_codes: Items[ExitCode] = Field(
        default=(), description="Exit codes that no further attempt can mend."
    )

    @model_validator(mode="after")
    def _program_given(self) -> Self:
        if self.shell and len(self.argv) != 1:
            raise FieldError(
                "argv", f"a shell takes one string, not {len(self.argv)}; write the whole command line as one"
            )
        if not self.argv[0]:
            raise FieldError("argv", 'the program is ""; write its name or path first')
        return self


class PythonSpec(Spec):
    """A function registered with `@handler` in a module that the worker loads."""

    handler: str = Field(
        min_length=1, description="Name that the function is registered under.", examples=["delete-old-rows"]
    )
    params: dict[str, Any] = Field(
        default_factory=dict, description="Parameters; checked against the function's model."
    )


class WorkflowSpec(Spec):
    """A workflow type of your own, run as a child of the job's run, or with `direct` in its place."""

    type: str = Field(min_length=1, description="Name of the workflow type.", examples=["Reconcile"])
    args: Items[Any] = Field(default=(), description="Arguments, in order.")
    direct: DirectSpec | None = Field(
        default=None, description="Started by the schedule itself, with these settings; `{}` for the usual ones."
    )


ONE_HANDLER = ConfigDict(json_schema_extra={"oneOf": [{"required": [name]} for name in HANDLERS]})


class HandlerSpec(Spec):
    """Exactly one handler."""

    what: ClassVar[str] = "step"

    http: HttpSpec | None = Field(default=None, description="A request to a service.")
    command: Annotated[
        CommandSpec | None, BeforeValidator(_argv_as_mapping, json_schema_input_type=CommandSpec | Argv)
    ] = Field(default=None, description="A program; a list is short for `{argv: […]}`.")
    python: PythonSpec | None = Field(default=None, description="A registered Python function.")
    workflow: WorkflowSpec | None = Field(default=None, description="A workflow of your own.")

    @model_validator(mode="after")
    def _one_handler(self) -> Self:
        given = [name for name in HANDLERS if getattr(self, name) is not None]
        if not given:
            raise ValueError(f"has no handler; write one of {', '.join(HANDLERS)}")
        if len(given) > 1:
            raise ValueError(
                f"has {len(given)} handlers, {' and '.join(given)}; keep one, a {self.what} runs one thing"
            )
        return self


class RunSpec(HandlerSpec):
    """What a run does: exactly one handler."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    what: ClassVar[str] = "job"
