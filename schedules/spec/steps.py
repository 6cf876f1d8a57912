"""The spec format's steps: what runs in which order, and what takes it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from activities.contract import When
from schedules.spec.fields import AtLeastFiveSeconds, AtLeastOneSecond, Items, Spec
from schedules.spec.handlers import ONE_HANDLER, HandlerSpec
from schedules.spec.retry import RetrySpec
from schedules.spec.task_queue import check_task_queue
from schedules.text.shown import shown

if TYPE_CHECKING:
    from datetime import timedelta

    from schedules.spec.handlers import HandlerSpec
    from schedules.spec.retry import RetrySpec

STEP_NAME = r"^[a-z0-9][a-z0-9_-]*$"
LONGEST_STEP_NAME = 60
TaskQueue = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(check_task_queue)]


def _check_step_name(name: str) -> str:
    if not re.fullmatch(STEP_NAME, name):
        advice = "write lower-case letters, digits, `_` and `-`, with a letter or a digit first"
        raise ValueError(f"{shown(name)} is not a step's name; {advice}")
    if len(name) > LONGEST_STEP_NAME:
        raise ValueError(f"a name of {len(name)} characters is too long; write {LONGEST_STEP_NAME} at most")
    return name


StepName = Annotated[
    str,
    AfterValidator(_check_step_name),
    WithJsonSchema({"type": "string", "pattern": STEP_NAME, "maxLength": LONGEST_STEP_NAME}),
]


class NamedSpec(Spec):
    """What has a name."""

    name: StepName = Field(description="Name of the step, unique in the job.", examples=["export"])


class CompensateSpec(HandlerSpec):
    """Undoes a step, with one handler and its own limits. Neither the deadline nor a cancellation ends it."""

    model_config = ONE_HANDLER

    timeout: AtLeastOneSecond | None = Field(
        default=None, description="Longest time for one attempt; by default the step's."
    )
    retry: RetrySpec | None = Field(
        default=None, description="How often and when a failed attempt is repeated; by default 10 attempts."
    )
    task_queue: TaskQueue | None = Field(
        default=None, description="Task queue of the workers that run it; by default the step's."
    )


class StepSpec(HandlerSpec, NamedSpec):
    """One step of a job: exactly one handler, and settings that differ from those of the job."""

    model_config = ONE_HANDLER

    needs: Items[str] | None = Field(
        default=None,
        description="Steps that must have ended before. If no step of the job has `needs`, each follows the one before it; "
        "if one has, steps without it start at once, or, with `when: on_failure` or `always`, after all the steps above them.",
        examples=[["export"]],
    )
    when: When = Field(
        default="on_success",
        description="Whether it runs: if no step before it failed, if one did, or in any case. A step that is skipped counts as if it was not there.",
    )
    timeout: AtLeastOneSecond | None = Field(
        default=None, description="Longest time for one attempt; by default the job's."
    )
    retry: RetrySpec | None = Field(default=None, description="Keys that replace those of the job's `retry`.")
    heartbeat_timeout: AtLeastFiveSeconds | None = Field(
        default=None, description="A worker that is silent for this long counts as dead; by default the job's."
    )
    start_timeout: AtLeastOneSecond | None = Field(
        default=None,
        description="How long it may wait for a worker that takes it (by default without limit), and for one that can run it "
        "(by default 10 minutes): a worker without its handler gives it back while another worker may have it.",
    )
    task_queue: TaskQueue | None = Field(
        default=None, description="Task queue of the workers that run it; by default the job's."
    )
    compensate: CompensateSpec | None = Field(
        default=None, description="Undoes the step if the run fails or is cancelled later."
    )


UNDO_RETRY = RetrySpec(max_attempts=10, max=timedelta(minutes=10))
"""Of compensations that do not say otherwise: attempts over half an hour."""


def needs_of(steps: Sequence[StepSpec]) -> list[list[str] | None]:
    """By step what it needs; None for the one before it, where no step says what it needs.

    Where one does, a step that does not say needs nothing, or all steps above it if it looks at how others ended.
    """
    if all(step.needs is None for step in steps):
        return [None for _ in steps]
    above = [[other.name for other in steps[:index]] for index in range(len(steps))]
    return [
        list(step.needs) if step.needs is not None else [] if step.when == "on_success" else names
        for step, names in zip(steps, above, strict=True)
    ]
