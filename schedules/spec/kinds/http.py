"""`http`: a request to a service. `activities/handlers/http.py` sends it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from activities.steps.template import NAMES, STABLE_NAMES, check
from schedules.spec.fields import FieldError, Items
from schedules.spec.kinds.kind import KindSpec
from schedules.text.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from activities.errors import Problem
    from activities.registry import HandlerRegistry

BODIES = ("json", "body")
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


def _single_as_list(value: object) -> object:
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


HeaderName = Annotated[str, AfterValidator(_check_header_name)]
HeaderValue = Annotated[str, AfterValidator(_check_header_value)]
Status = Annotated[int, Field(ge=100, le=599)]


class HttpSpec(KindSpec):
    """A request to a service.

    4xx is permanent except 408, 425 and 429; other unexpected answers and broken connections are retried.
    """

    url: Annotated[str, AfterValidator(_check_url)] = Field(
        description="Absolute `http` or `https` address; it may have templates and secrets.",
        examples=["https://billing.internal/dunning"],
    )
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = Field(
        default="POST", description="Method of the request."
    )
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict, description="Further headers.")
    json_body: Any = Field(default=None, alias="json", description="Body, sent as JSON.")
    body: str | None = Field(default=None, description="Body, sent as it is written; instead of `json`.")
    expect_status: Annotated[
        Items[Status], BeforeValidator(_single_as_list, json_schema_input_type=Status | list[Status])
    ] = Field(default=(), description="Status or statuses that count as success; by default any 2xx.")

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

    def step_params(self) -> dict[str, Any]:
        """See KindSpec; an empty JSON body is a body."""
        body = {} if self.json_body is None else {"json": self.model_dump(mode="json")["json_body"]}
        return super().step_params() | body

    def described(self) -> str:
        """See KindSpec."""
        return f"http `{self.method} {self.url}`"

    @classmethod
    def find_problems(
        cls, params: dict[str, Any], outputs: AbstractSet[str], registry: HandlerRegistry | None
    ) -> Iterator[Problem]:
        """See KindSpec. What is sent under an Idempotency-Key must be the same in every attempt."""
        del registry
        yield from check({name: params[name] for name in BODIES if name in params}, STABLE_NAMES | outputs)
        yield from check({name: value for name, value in params.items() if name not in BODIES}, NAMES | outputs)
