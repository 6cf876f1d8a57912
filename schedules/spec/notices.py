"""The spec format's words for being told: channels, and what a job has told to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from schedules.spec.fields import AtLeastFiveSeconds, AtLeastOneSecond, Duration, Items, Spec, Word
from schedules.spec.steps import TaskQueue
from schedules.text.shown import shown

USUAL_GRACE = timedelta(minutes=15)
USUAL_PAUSE = timedelta(days=1)
_WEB = re.compile(r"https?://\S+|\$\{secret:")
_PAGE = re.compile(r"https?://\S+\Z")
_ANY_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|\$\{secret:")


def _check_web(text: str) -> str:
    if not _WEB.match(text):
        raise ValueError(
            f'{shown(text)} is no address; write "https://host/path", or a "${{secret:NAME}}" that holds one'
        )
    return text


def _check_apprise(text: str) -> str:
    if not _ANY_SCHEME.match(text):
        raise ValueError(
            f'{shown(text)} is no address of apprise, such as "mailto://…"; write a "${{secret:NAME}}" that holds one'
        )
    return text


def _or_null(check: Callable[[str], str]) -> WrapValidator:
    """`null` is no address, and stands for the empty text; an empty text that is written is none either, and is wrong."""

    def checked(value: object, handler: ValidatorFunctionWrapHandler) -> str:
        return "" if value is None else check(handler(value))

    return WrapValidator(checked, json_schema_input_type=str | None)


def _check_page(text: str) -> str:
    if not _PAGE.match(text):
        raise ValueError(f'{shown(text)} is no address of a page; write "https://host/path"')
    return text


WebAddress = Annotated[Word, AfterValidator(_check_web)]
MaybeWebAddress = Annotated[Word, _or_null(_check_web)]
PageAddress = Annotated[Word, _or_null(_check_page)]
AppriseAddress = Annotated[Word, AfterValidator(_check_apprise)]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_webhook(value: object) -> object:
    return {"url": value} if isinstance(value, str) else value


def _as_channels(value: object) -> object:
    return {"channels": value} if isinstance(value, str | list | tuple) else value


def _as_failures(value: object) -> object:
    return {"failures": value} if isinstance(value, int) and not isinstance(value, bool) else value


Names = Annotated[Items[str], BeforeValidator(_as_list, json_schema_input_type=list[str] | str)]


class WebhookSpec(Spec):
    """A POST of a JSON document, which docs/notices.md describes."""

    url: WebAddress = Field(description="Address; write secrets as `${secret:NAME}`.", examples=["${secret:HOOK_URL}"])
    headers: dict[Word, Word] = Field(
        default_factory=dict, description="Further headers; write secrets as `${secret:NAME}`."
    )


class ChannelSpec(Spec):
    """A way to reach people: exactly one of `apprise` and `webhook`."""

    apprise: Annotated[Items[AppriseAddress], BeforeValidator(_as_list, json_schema_input_type=list[str] | str)] = (
        Field(
            default=(),
            description="Address of any service of the `apprise` library, or a list; write secrets as `${secret:NAME}`.",
            examples=["${secret:OPS_APPRISE_URL}"],
        )
    )
    webhook: Annotated[WebhookSpec, BeforeValidator(_as_webhook, json_schema_input_type=WebhookSpec | str)] | None = (
        Field(default=None, description="Address of your own service, or a mapping with more settings.")
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if bool(self.apprise) == (self.webhook is not None):
            raise ValueError("write one of `apprise` and `webhook`, and another channel for the other")
        return self


class OnFailureSpec(Spec):
    """Which channels get a notice when the job fails, and when."""

    channels: Names = Field(default=(), description="Channels of the file.", examples=[["ops"]])
    after: int = Field(default=1, ge=1, le=10_000, description="Failures in a row at which the notice is sent.")
    remind_every: AtLeastOneSecond | None = Field(
        default=None, description="How often a reminder is sent while the job keeps failing; by default never."
    )


class OnMissedSpec(Spec):
    """Which channels get a notice when a run did not begin, and when."""

    channels: Names = Field(default=(), description="Channels of the file.", examples=[["ops"]])
    grace: AtLeastFiveSeconds = Field(
        default=USUAL_GRACE, description="How long after its scheduled time a run may begin, at least 5s."
    )
    paused_for: Duration = Field(
        default=USUAL_PAUSE, description="How long a job may be paused before missed runs cause a notice."
    )
    task_queue: TaskQueue | None = Field(
        default=None,
        description="Task queue of the workers that check; by default another one than the job's own, if the project has one. "
        "Workers of the job's own queue cannot notice that all of them are away.",
    )


class PauseAfterSpec(Spec):
    """When failures in a row pause the job, and whether it is tried again."""

    failures: int = Field(ge=1, le=10_000, description="Failures in a row.", examples=[5])
    retry_every: AtLeastOneSecond | None = Field(
        default=None,
        description="How often one run is let through while the job is paused; the first success resumes it. By default "
        "it stays paused until somebody resumes it.",
    )


OnFailure = Annotated[
    OnFailureSpec, BeforeValidator(_as_channels, json_schema_input_type=OnFailureSpec | list[str] | str)
]
OnMissed = Annotated[OnMissedSpec, BeforeValidator(_as_channels, json_schema_input_type=OnMissedSpec | list[str] | str)]
PauseAfter = Annotated[PauseAfterSpec, BeforeValidator(_as_failures, json_schema_input_type=PauseAfterSpec | int)]


@dataclass(frozen=True, eq=False)
class ChannelSet:
    """The channels of one file, and the jobs that may name them."""

    file: str
    specs: Mapping[str, ChannelSpec]
    jobs: frozenset[str] = frozenset()
