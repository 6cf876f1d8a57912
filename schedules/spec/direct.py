"""The spec format's own words of Temporal: for schedules that start a workflow themselves, as others than Tickwright make them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, Field, WithJsonSchema

from schedules.cron.notation.literal import PATTERN, check_literal
from schedules.spec.fields import AtLeastOneSecond, Items, LocalTime, Spec

CalendarText = Annotated[str, AfterValidator(check_literal), WithJsonSchema({"type": "string", "pattern": PATTERN})]
LONGEST_WORKFLOW_ID = 234
"""Characters: with the time of a run behind it, it is 255, as much as databases of self-hosted servers hold."""
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_WORKFLOW_ID)]


def _with_offset(value: Any) -> Any:
    if value.tzinfo is None:
        raise ValueError(f"{value.isoformat()} names no instant; write an offset, such as {value.isoformat()}Z")
    return value


Instant = Annotated[LocalTime, AfterValidator(_with_offset)]


class DirectRetrySpec(Spec):
    """The server's retry policy of the workflow."""

    max_attempts: int = Field(default=0, ge=0, description="Attempts in all; 0 is without end.")
    initial_ms: int = Field(default=1_000, ge=1, description="Milliseconds before the second attempt.")
    coefficient: float = Field(default=2.0, ge=1.0, strict=False, description="What each wait is longer by.")
    max_ms: int = Field(default=100_000, ge=1, description="Milliseconds of the longest wait.")
    non_retryable: Items[str] = Field(default=(), description="Error types after which there is no further attempt.")


class DirectSpec(Spec):
    """The schedule starts the workflow itself: nothing of Tickwright runs, and the job's own limits and retries do not apply."""

    id: Name | None = Field(default=None, description="Workflow id before the time; the job's name if left out.")
    execution_timeout: AtLeastOneSecond | None = Field(default=None, description="Longest time with all retries.")
    run_timeout: AtLeastOneSecond | None = Field(default=None, description="Longest time of one run.")
    task_timeout: AtLeastOneSecond | None = Field(default=None, description="Longest time of one workflow task.")
    retry: DirectRetrySpec | None = Field(default=None, description="Retries by the server; none if left out.")
    memo: dict[str, Any] = Field(default_factory=dict, description="Memo of each run.")
    search_attributes: dict[str, Any] = Field(default_factory=dict, description="Search attributes of each run.")
    summary: str = Field(default="", description="One line for the Web UI.")
    details: str = Field(default="", description="Text for the Web UI.")
    catchup_window: AtLeastOneSecond = Field(
        default=timedelta(days=365), description="How late an occurrence may still start after an outage."
    )
    pause_on_failure: bool = Field(default=False, description="Pause the schedule when a run fails.")
    exclude: Items[CalendarText] = Field(default=(), description="Calendars whose times do not run.")
    start_at: Instant | None = Field(default=None, description="No run before.")
    end_at: Instant | None = Field(default=None, description="No run after.")
