"""The spec format, version 1: the models of a job, from which the JSON Schema and the reference are generated, too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    model_validator,
)

from activities.contract import DEFAULT_TASK_QUEUE
from activities.overlap import Overlap
from schedules.cron import Gap, Repeat
from schedules.spec.alerts import AlertsSpec
from schedules.spec.calendars import OnHoliday, unknown_calendar
from schedules.spec.catch_up import CatchUpSpec, check_catch_up
from schedules.spec.direct import DirectSpec
from schedules.spec.entries import Schedule
from schedules.spec.fields import (
    AtLeastFiveSeconds,
    AtLeastOneSecond,
    Duration,
    FieldError,
    Items,
    JobName,
    LocalTime,
    Spec,
    Timezone,
)
from schedules.spec.finding_ids import FindingId
from schedules.spec.handlers import RunSpec
from schedules.spec.notices import (
    MaybeWebAddress,
    Names,
    OnFailure,
    OnMissed,
    PageAddress,
    PauseAfter,
)
from schedules.spec.retry import RetrySpec
from schedules.spec.steps import StepSpec, TaskQueue
from schedules.text.duration import format_duration
from schedules.text.shown import shown

Mode = Literal["live", "shadow"]


class DstSpec(Spec):
    """What happens at local times that clock changes skip or repeat. A job of every minute or hour follows real time."""

    gap: Gap = Field(
        default="run_after",
        description="What happens to a time that does not exist: it runs at the first instant after the gap, later by the gap's length, or not.",
    )
    repeat: Repeat = Field(default="first", description="Which pass of a time that happens twice runs.")


class LintSpec(Spec):
    """Settings of `lint` for a job."""

    ignore: Items[FindingId] = Field(
        default=(), description="Findings that are intended.", examples=[["both-day-fields"]]
    )


def _check_label(text: str) -> str:
    if not text.isprintable() or len(text) > LONGEST_LABEL:
        raise ValueError(f"{shown(text)} is not a label; write one line of at most {LONGEST_LABEL} characters")
    return text


def _check_label_name(text: str) -> str:
    if not text.strip():
        raise ValueError(f"{shown(text)} is not the name of a label; write for example `team`")
    return _check_label(text)


SHADOW_DIRECT = (
    "a workflow that the schedule starts directly cannot be shadowed, for nothing of Tickwright runs in it; write `paused: true`, "
    "or run the workflow without `direct`"
)
LONGEST_LABEL = 200
LabelName = Annotated[str, AfterValidator(_check_label_name)]
Label = Annotated[str, AfterValidator(_check_label)]


MOST_STEPS = 500


class JobSpec(Spec):
    """One job, after defaults and environment are merged. It has either `run` or `steps`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["run"]}, {"required": ["steps"]}]})

    name: JobName = Field(description="Name of the job: its key under `jobs`.")
    schedule: Schedule = Field(
        description="When it runs: a cron expression, `{cron: …}`, `{every: …, offset: …}`, `{at: …}`, `{business_day: …, at: …}`, `{calendar: …}`, or a list.",
        examples=["0 8 * * 1-5"],
    )
    timezone: Timezone = Field(
        description="Time zone (of the tz database) of cron expressions and `at`.", examples=["Europe/Berlin"]
    )
    timeout: AtLeastOneSecond = Field(description="Longest time for one attempt.", examples=["5m"])
    run: RunSpec | None = Field(
        default=None, description="What it runs, in one step.", examples=[{"command": ["./export.sh"]}]
    )
    steps: Items[StepSpec] = Field(
        default=(),
        max_length=MOST_STEPS,
        description="What it runs, in several steps: one after the other, or by their `needs`.",
        json_schema_extra={"minItems": 1},
    )
    dst: DstSpec = Field(
        default_factory=DstSpec, description="What happens at local times that clock changes skip or repeat."
    )
    only: Items[str] = Field(
        default=(), description="Calendars of the file on whose days alone it runs.", examples=[["business-days"]]
    )
    without: Items[str] = Field(
        default=(),
        alias="except",
        description="Calendars of the file on whose days it does not run.",
        examples=[["us-holidays"]],
    )
    on_holiday: OnHoliday = Field(
        default="skip",
        description="What happens to a time on a day that `only` or `except` excludes: no run, or a run at the same time "
        "of the next or previous business day. Times of `every` are never moved.",
    )
    lint: LintSpec = Field(default_factory=LintSpec, description="Findings of `lint` to ignore.")
    alerts: AlertsSpec = Field(default_factory=AlertsSpec, description="Thresholds of its Prometheus alerts.")
    description: str = Field(default="", description="What the job is for, in a sentence.")
    labels: dict[LabelName, Label] = Field(
        default_factory=dict, description="Your own labels of the job, which its alerts have, too."
    )
    jitter: Duration = Field(
        default=timedelta(0),
        description="Delays the start by up to this, always by the same amount; the scheduled time stays.",
    )
    overlap: Overlap = Field(
        default="skip",
        description="What happens at a scheduled time while the previous run is in progress: no run, one waits, all "
        "wait, the previous run is cancelled or terminated, or both run.",
    )
    catchup: CatchUpSpec | None = Field(
        default=None,
        description="What happens to runs that were missed because the server or every worker was away; by default the newest "
        "runs (`{policy: run_latest}`), and `null` takes back a default.",
        examples=[{"policy": "run_all", "max_missed": 3}],
    )
    start_deadline: AtLeastOneSecond | None = Field(
        default=None,
        description="A run that cannot start within this time after its scheduled time is recorded as too late and does not run; "
        "`null` takes back a default.",
    )
    deadline: Duration | None = Field(
        default=None,
        description="Longest time for the whole run, with all its attempts and waits; `null` takes back a default.",
    )
    heartbeat_timeout: AtLeastFiveSeconds = Field(
        default=timedelta(seconds=30),
        description="A worker that is silent for this long counts as dead, and its attempt as failed.",
    )
    retry: RetrySpec = Field(default_factory=RetrySpec, description="How often and when a failed attempt is repeated.")
    paused: bool | None = Field(
        default=None, description="If set, each sync enforces it; left out or `null`, operators decide."
    )
    mode: Mode = Field(
        default="live",
        description="`shadow` records runs with the outcome `shadow`; no step runs and no notice is sent.",
    )
    start_at: LocalTime | None = Field(
        default=None,
        description="No run before: local time of the job's timezone, or one with an offset of its own. For a job that another "
        "scheduler runs until then; `null` takes back a default.",
        examples=["2027-03-01T06:30"],
    )
    task_queue: TaskQueue = Field(default=DEFAULT_TASK_QUEUE, description="Task queue of the workers that run it.")
    contact: Label = Field(
        default="", description="Who is responsible; part of its notices.", examples=["billing team"]
    )
    runbook: PageAddress = Field(default="", description="Address of a page that says what to do; part of its notices.")
    on_failure: OnFailure | None = Field(
        default=None,
        description="Channels that get a notice when it fails, or a mapping with more settings.",
        examples=[["ops"]],
    )
    on_recovery: Names | None = Field(
        default=None,
        description="Channels that get a notice of the first success after a failure; by default those of `on_failure`.",
    )
    on_missed: OnMissed | None = Field(
        default=None,
        description="Channels that get a notice when a run did not begin, or a mapping with more settings.",
    )
    pause_after: PauseAfter | None = Field(
        default=None,
        description="Failures in a row after which the job is paused, or a mapping with more settings.",
        examples=[5],
    )
    ping: MaybeWebAddress = Field(
        default="",
        description="Address of an outside monitor such as Healthchecks.io; `/start` or `/fail` is added to its path.",
        examples=["${secret:HEALTHCHECKS_URL}"],
    )

    @property
    def direct(self) -> DirectSpec | None:
        """How its schedule starts the workflow by itself, where it does."""
        return self.run.direct if self.run else None

    @model_validator(mode="after")
    def _limits_agree(self) -> Self:
        if self.run and self.steps:
            raise FieldError("steps", "the job already has `run`; keep one of the two")
        if not self.run and not self.steps:
            example = json.dumps({"command": ["./export.sh"]})
            raise ValueError(f"has neither `run` nor `steps`; write for example `run: {example}`")
        if self.run and self.deadline is not None and self.deadline < self.timeout:
            deadline, timeout = format_duration(self.deadline), format_duration(self.timeout)
            raise FieldError(
                "deadline", f"{deadline} ends before one attempt may (timeout: {timeout}); write {timeout} or more"
            )
        if fault := self.retry.wait_too_long():
            raise fault
        if self.mode == "shadow" and self.direct:
            raise FieldError("mode", SHADOW_DIRECT)
        check_catch_up(self)
        return self


def unknown_calendars(job: JobSpec, known: Iterable[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Names in `only` and `except` that are not known, each as the path within the job and a message."""
    names = list(known)
    for key, given in (("only", job.only), ("except", job.without)):
        for index, name in enumerate(given):
            if name not in names:
                yield (key, index), unknown_calendar(name, names)
