"""The spec format's words for further attempts."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Self

from pydantic import AfterValidator, Field

from activities.contract import Backoff
from schedules.spec.fields import AtLeastOneSecond, FieldError, Items, Spec
from schedules.text.duration import format_duration
from schedules.text.shown import shown

_TYPE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def _check_type(name: str) -> str:
    if not _TYPE.fullmatch(name):
        raise ValueError(f'{shown(name)} is not the name of an exception; write for example "ValueError"')
    return name


ErrorType = Annotated[str, AfterValidator(_check_type)]


class RetrySpec(Spec):
    """How a failed attempt is repeated."""

    max_attempts: int = Field(default=1, ge=1, le=1_000_000, description="Most attempts, with the first one.")
    backoff: Backoff = Field(
        default="exponential", description="How the wait grows: it doubles, grows by `initial`, or stays."
    )
    initial: AtLeastOneSecond = Field(default=timedelta(seconds=10), description="Wait before the second attempt.")
    max: AtLeastOneSecond = Field(default=timedelta(minutes=5), description="Longest wait between two attempts.")
    permanent_errors: Items[ErrorType] = Field(
        default=(),
        description="Exceptions of `python` handlers, and error types of workflows, that are not tried again: names with or without "
        "the module; subclasses count, too.",
        examples=[["ValueError"]],
    )

    def over(self, other: RetrySpec) -> RetrySpec:
        """What is said here, and the rest as in `other`."""
        return other.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})

    def wait_too_long(self, own: Self | None = None) -> FieldError | None:
        """The fault of a first wait that is longer than the longest one; told at what `own`, the part written there, says."""
        if self.initial <= self.max:
            return None
        initial, longest = format_duration(self.initial), format_duration(self.max)
        if "initial" in (self if own is None else own).model_fields_set:
            message = f"{initial} is longer than retry.max: {longest}; write {longest} or less"
            return FieldError("retry.initial", message)
        return FieldError("retry.max", f"{longest} is shorter than retry.initial: {initial}; write {initial} or more")
