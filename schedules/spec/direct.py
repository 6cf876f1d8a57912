"""The spec format's own words of Temporal: for schedules that start a workflow themselves, as others than Tickwright make them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from schedules.cron.notation.literal import PATTERN, check_literal
from schedules.spec.fields import AtLeastOneSecond, FieldError, Items, LocalTime, Spec
from schedules.text.shown import shown

CalendarText = Annotated[str, AfterValidator(check_literal), WithJsonSchema({"type": "string", "pattern": PATTERN})]
MOST_ATTEMPTS = 2**31 - 1
MOST_TIMES = 1_000_000
LONGEST_WAIT_MS = 36_500 * 86_400_000
YEARS = range(1970, 2262)
"""Those that the server's times reach."""
LONGEST_WORKFLOW_ID = 234
"""Characters: with the time of a run behind it, it is 255, as much as databases of self-hosted servers hold."""
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_WORKFLOW_ID)]


def _with_offset(value: Any) -> Any:
    if value.tzinfo is None:
        raise ValueError(f"{value.isoformat()} names no instant; write an offset, such as {value.isoformat()}Z")
    if value.year not in YEARS:
        raise ValueError(f"{value.isoformat()} is no time that the server knows; write a year from 1970 to 2261")
    return value


Instant = Annotated[LocalTime, AfterValidator(_with_offset)]


def _check_attributes(values: dict[str, Any]) -> dict[str, Any]:
    for name, value in values.items():
        texts = isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
        if not (texts or isinstance(value, str | bool | int | float)):
            raise ValueError(f"`{name}` is {shown(value)}; write a text, a number, true, false or a list of texts")
    return values


class DirectRetrySpec(Spec):
    """The server's retry policy of the workflow."""

    max_attempts: int = Field(default=0, ge=0, le=MOST_ATTEMPTS, description="Most attempts; 0 means no limit.")
    initial_ms: int = Field(
        default=1_000, ge=1, le=LONGEST_WAIT_MS, description="Milliseconds before the second attempt."
    )
    coefficient: float = Field(default=2.0, ge=1.0, le=MOST_TIMES, description="Factor by which each wait grows.")
    max_ms: int = Field(default=100_000, ge=1, le=LONGEST_WAIT_MS, description="Milliseconds of the longest wait.")
    non_retryable: Items[str] = Field(default=(), description="Error types that are not tried again.")

    @model_validator(mode="after")
    def _waits_agree(self) -> Self:
        if self.max_ms < self.initial_ms:
            raise FieldError("max_ms", f"{self.max_ms} is less than initial_ms: {self.initial_ms}; write that or more")
        return self


class DirectSpec(Spec):
    """The schedule starts the workflow itself. No code of Tickwright runs, and the job's own limits and retries do not apply."""

    id: Name | None = Field(
        default=None, description="Beginning of the workflow id, before the time; by default the job's name."
    )
    execution_timeout: AtLeastOneSecond | None = Field(
        default=None, description="Longest time of the workflow with all retries."
    )
    run_timeout: AtLeastOneSecond | None = Field(default=None, description="Longest time of one run.")
    task_timeout: AtLeastOneSecond | None = Field(default=None, description="Longest time of one workflow task.")
    retry: DirectRetrySpec | None = Field(default=None, description="Retries by the server; by default none.")
    memo: dict[str, Any] = Field(default_factory=dict, description="Memo of each run.")
    search_attributes: Annotated[dict[str, Any], AfterValidator(_check_attributes)] = Field(
        default_factory=dict, description="Search attributes of each run."
    )
    summary: str = Field(default="", description="One line for the Web UI.")
    details: str = Field(default="", description="Text for the Web UI.")
    catchup_window: AtLeastOneSecond = Field(
        default=timedelta(days=365), description="How late an occurrence may still start after an outage."
    )
    pause_on_failure: bool = Field(default=False, description="Pause the schedule when a run fails.")
    exclude: Items[CalendarText] = Field(default=(), description="Calendars whose times do not run.")
    start_at: Instant | None = Field(default=None, description="No run before.")
    end_at: Instant | None = Field(default=None, description="No run after.")

    @model_validator(mode="after")
    def _ends_after_start(self) -> Self:
        if self.start_at and self.end_at and self.end_at <= self.start_at:
            raise FieldError("end_at", f"{self.end_at.isoformat()} is not after start_at; write a later time")
        return self
