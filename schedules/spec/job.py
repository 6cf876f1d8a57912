"""The spec format, version 1: the models of a job, from which the JSON Schema and the reference are generated, too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    model_validator,
)

from activities.contract import DEFAULT_TASK_QUEUE
from schedules.cron import CronError, Gap, Repeat
from schedules.cron.check import check_cron
from schedules.model import Overlap
from schedules.spec.alerts import AlertsSpec
from schedules.spec.calendars import OnHoliday, unknown_calendar
from schedules.spec.catch_up import CatchUpSpec, check_catch_up
from schedules.spec.direct import CalendarText
from schedules.spec.fields import (
    AtLeastFiveSeconds,
    AtLeastOneSecond,
    ClockTime,
    Duration,
    FieldError,
    Items,
    JobName,
    LocalTime,
    SomeItems,
    Spec,
    Timezone,
)
from schedules.spec.finding_ids import FindingId
from schedules.spec.handlers import CommandSpec, HttpSpec, PythonSpec, RunSpec, WorkflowSpec
from schedules.spec.notices import (
    ChannelSpec,
    MaybeWebAddress,
    Names,
    OnFailure,
    OnFailureSpec,
    OnMissed,
    OnMissedSpec,
    PageAddress,
    PauseAfter,
    PauseAfterSpec,
    WebhookSpec,
)
from schedules.spec.retry import RetrySpec
from schedules.spec.steps import CompensateSpec, StepSpec, TaskQueue
from schedules.text.duration import format_duration
from schedules.text.nearest import suggestion
from schedules.text.shown import shown

MOST_BUSINESS_DAYS = 31
DialectName = Literal["cron", "quartz", "spring", "kubernetes", "eventbridge", "celery", "temporal"]

__all__ = [
    "AlertsSpec",
    "AtEntry",
    "BusinessDayEntry",
    "CalendarEntry",
    "CatchUpSpec",
    "ChannelSpec",
    "CommandSpec",
    "CompensateSpec",
    "CronEntry",
    "DstSpec",
    "EveryEntry",
    "HttpSpec",
    "JobSpec",
    "LintSpec",
    "OnFailureSpec",
    "OnMissedSpec",
    "PauseAfterSpec",
    "PythonSpec",
    "RetrySpec",
    "RunSpec",
    "ScheduleEntry",
    "StepSpec",
    "WebhookSpec",
    "WorkflowSpec",
]


class DstSpec(Spec):
    """What becomes of a local time that clock changes skip or repeat; a job of every minute or hour follows real time."""

    gap: Gap = Field(
        default="run_after",
        description="A time that does not exist runs at the first instant after the gap, later by the gap's length, or not.",
    )
    repeat: Repeat = Field(default="first", description="Which pass of a time that happens twice runs.")


class LintSpec(Spec):
    """What `lint` is to make of a job."""

    ignore: Items[FindingId] = Field(
        default=(), description="Findings that are meant to be so.", examples=[["both-day-fields"]]
    )


class CronEntry(Spec):
    """Times given as a cron expression."""

    cron: str = Field(
        description="Five fields (minute hour day month weekday), a name such as `@daily`, or what `dialect` says.",
        examples=["0 8 * * 1-5"],
    )
    dialect: DialectName = Field(default="cron", description="Whose rules the expression follows.")

    @model_validator(mode="after")
    def _readable(self, info: ValidationInfo) -> Self:
        try:
            check_cron(self.cron, self.dialect, (info.context or {}).get("now"))
        except CronError as error:
            raise FieldError(error.field if error.field == "dialect" else "cron", str(error)) from None
        return self


class EveryEntry(Spec):
    """Times at a fixed distance, counted from 1970-01-01T00:00Z; no time zone has a say."""

    every: AtLeastOneSecond = Field(description="Distance, at least 1s.", examples=["5m"])
    offset: Duration = Field(default=timedelta(0), description="Shift of the grid, shorter than `every`.")

    @model_validator(mode="after")
    def _offset_within(self) -> Self:
        if self.offset >= self.every:
            offset, every = format_duration(self.offset), format_duration(self.every)
            raise FieldError("offset", f"{offset} is not shorter than every: {every}; write less than {every}")
        return self


class AtEntry(Spec):
    """One time."""

    at: LocalTime = Field(
        description="Local time of the job's timezone, or one with an offset of its own.", examples=["2027-03-01T09:00"]
    )


class CalendarEntry(Spec):
    """Times as the server knows them, word for word: seven fields that must all match, and clock changes as the server takes them."""

    calendar: CalendarText = Field(
        description="`second minute hour day month weekday year`, with `# comment` after it if there is one; 0 is Sunday.",
        examples=["0 30 8 * * 1-5 *"],
    )


class BusinessDayEntry(Spec):
    """One time in each month, on a business day: a day that `only` and `except` allow, from Monday to Friday without `only`."""

    business_day: int = Field(
        ge=-MOST_BUSINESS_DAYS,
        le=MOST_BUSINESS_DAYS,
        description="Which one: 1 is the first of the month, -1 the last, -2 the last but one; a month without it has no run.",
        examples=[1],
    )
    at: ClockTime = Field(description="Local time of the job's timezone.", examples=["09:00"])

    @model_validator(mode="after")
    def _not_zero(self) -> Self:
        if self.business_day == 0:
            raise FieldError(
                "business_day", "0 is no business day; write 1 for the first or -1 for the last of the month"
            )
        return self


ENTRY_KEYS = ("cron", "every", "at", "business_day", "calendar")


def _entry_kind(value: Any) -> str:
    if isinstance(value, dict):
        return next((key for key in ("business_day", "calendar", "every", "at") if key in value), "cron")
    return next((kind for kind, model in _ENTRIES.items() if isinstance(value, model)), "cron")


_ENTRIES = {"business_day": BusinessDayEntry, "calendar": CalendarEntry, "every": EveryEntry, "at": AtEntry}


def _entry_from_text(value: object) -> object:
    if isinstance(value, str):
        return {"cron": value}
    if isinstance(value, CronEntry) or (isinstance(value, dict) and "cron" in value):
        return value
    if isinstance(value, dict) and value:
        raise ValueError(
            f"has none of `cron`, `every`, `at`, `business_day` and `calendar`; {suggestion(str(next(iter(value))), ENTRY_KEYS, 'keys')}"
        )
    advice = 'write a cron expression such as "0 8 * * 1-5", {every: 5m} or {at: …}'
    raise ValueError(f"{shown(value)} is not a schedule; {advice}")


def _one_as_list(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


_Cron = Annotated[CronEntry, BeforeValidator(_entry_from_text, json_schema_input_type=str | CronEntry)]
ScheduleEntry = Annotated[
    Annotated[_Cron, Tag("cron")]
    | Annotated[EveryEntry, Tag("every")]
    | Annotated[AtEntry, Tag("at")]
    | Annotated[BusinessDayEntry, Tag("business_day")]
    | Annotated[CalendarEntry, Tag("calendar")],
    Discriminator(_entry_kind),
]
Entries = Annotated[list[ScheduleEntry], Field(min_length=1)]
Schedule = Annotated[
    SomeItems[ScheduleEntry], BeforeValidator(_one_as_list, json_schema_input_type=ScheduleEntry | Entries)
]


def _check_label(text: str) -> str:
    if not text.isprintable() or len(text) > LONGEST_LABEL:
        raise ValueError(f"{shown(text)} is not a label; write one line of at most {LONGEST_LABEL} characters")
    return text


LONGEST_LABEL = 200
Label = Annotated[str, AfterValidator(_check_label)]


class JobSpec(Spec):
    """One job, after defaults and environment are merged: what it does stands in `run` or in `steps`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["run"]}, {"required": ["steps"]}]})

    name: JobName = Field(description="Name of the job: its key under `jobs`.")
    schedule: Schedule = Field(
        description="When it runs: a cron expression, `{cron: …}`, `{every: …, offset: …}`, `{at: …}`, `{business_day: …, at: …}`, `{calendar: …}`, or a list.",
        examples=["0 8 * * 1-5"],
    )
    timezone: Timezone = Field(
        description="Zone of the tz database in which cron expressions and `at` are read.", examples=["Europe/Berlin"]
    )
    timeout: AtLeastOneSecond = Field(description="Longest time for one attempt.", examples=["5m"])
    run: RunSpec | None = Field(
        default=None, description="What it does, in one step.", examples=[{"command": ["./export.sh"]}]
    )
    steps: Items[StepSpec] = Field(
        default=(),
        description="What it does, in several steps: one after the other, or as their `needs` say.",
        json_schema_extra={"minItems": 1},
    )
    dst: DstSpec = Field(default_factory=DstSpec, description="What clock changes do to its local times.")
    only: Items[str] = Field(
        default=(), description="Calendars of the file: it runs on days of these alone.", examples=[["business-days"]]
    )
    without: Items[str] = Field(
        default=(),
        alias="except",
        description="Calendars of the file: it does not run on their days.",
        examples=[["us-holidays"]],
    )
    on_holiday: OnHoliday = Field(
        default="skip",
        description="What becomes of a time on a day that `only` or `except` rules out: no run, or a run at the same time "
        "of the next or previous business day. Times of `every` are never moved.",
    )
    lint: LintSpec = Field(default_factory=LintSpec, description="What `lint` keeps quiet about.")
    alerts: AlertsSpec = Field(default_factory=AlertsSpec, description="When Prometheus alerts somebody of it.")
    description: str = Field(default="", description="What the job is for, in a sentence.")
    labels: dict[Label, Label] = Field(default_factory=dict, description="Words of your own about the job.")
    jitter: Duration = Field(
        default=timedelta(0), description="Start later by a stable amount up to this; the scheduled time stays."
    )
    overlap: Overlap = Field(
        default="skip",
        description="What happens at a scheduled time while the run before is still going: no run, one waits, all "
        "wait, the run before is cancelled or terminated, or both run.",
    )
    catchup: CatchUpSpec | None = Field(
        default=None,
        description="What becomes of runs that were missed, since the server or every worker was away; by default the newest "
        "runs (`{policy: run_latest}`), and `null` takes back a default.",
        examples=[{"policy": "run_all", "max_missed": 3}],
    )
    start_deadline: AtLeastOneSecond | None = Field(
        default=None,
        description="A run that could not start within this after its scheduled time is recorded as too late and does not run; "
        "`null` takes back a default.",
    )
    deadline: Duration | None = Field(
        default=None,
        description="Longest time for the whole run, with all its attempts and waits; `null` takes back a default.",
    )
    heartbeat_timeout: AtLeastFiveSeconds = Field(
        default=timedelta(seconds=30),
        description="A worker that was silent for this long is given up, and the attempt with it.",
    )
    retry: RetrySpec = Field(default_factory=RetrySpec, description="How often and when an attempt is made again.")
    paused: bool | None = Field(
        default=None, description="Declared, sync keeps it so; left out or `null`, it is the operator's."
    )
    task_queue: TaskQueue = Field(default=DEFAULT_TASK_QUEUE, description="Task queue of the workers that run it.")
    contact: Label = Field(
        default="", description="Who looks after it, told with a failure.", examples=["billing team"]
    )
    runbook: PageAddress = Field(default="", description="Address of what to do then, told with a failure.")
    on_failure: OnFailure | None = Field(
        default=None, description="Channels that are told when it fails, or more about that.", examples=[["ops"]]
    )
    on_recovery: Names | None = Field(
        default=None,
        description="Channels that are told of the first success after that; left out, those of `on_failure`.",
    )
    on_missed: OnMissed | None = Field(
        default=None, description="Channels that are told when a run did not begin, or more about that."
    )
    pause_after: PauseAfter | None = Field(
        default=None, description="So many failures in a row pause it; or more about that.", examples=[5]
    )
    ping: MaybeWebAddress = Field(
        default="",
        description="Address of an outside monitor, as of Healthchecks.io: `/start`, nothing, or `/fail` is put behind its path.",
        examples=["${secret:HEALTHCHECKS_URL}"],
    )

    @model_validator(mode="after")
    def _limits_agree(self) -> Self:
        if self.run and self.steps:
            raise FieldError("steps", "there is a `run` already; keep one of the two")
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
        check_catch_up(self)
        return self


def unknown_calendars(job: JobSpec, known: Iterable[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Names in `only` and `except` that are not known, each as the path within the job and a message."""
    names = list(known)
    for key, given in (("only", job.only), ("except", job.without)):
        for index, name in enumerate(given):
            if name not in names:
                yield (key, index), unknown_calendar(name, names)
