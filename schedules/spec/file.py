"""The spec format, version 1: what stands around the jobs of a file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from activities.overlap import Overlap
from schedules.spec.alerts import AlertsSpec
from schedules.spec.calendars import CalendarSpec, OnHoliday
from schedules.spec.catch_up import CatchUpSpec
from schedules.spec.fields import (
    AtLeastFiveSeconds,
    AtLeastOneSecond,
    Duration,
    Items,
    LocalName,
    LocalTime,
    OwnerPart,
    Spec,
    Timezone,
    check_job_name,
)
from schedules.spec.job import DstSpec, JobSpec, Label, LabelName, LintSpec, Mode
from schedules.spec.notices import ChannelSpec, Names, OnFailure, OnMissed, PageAddress, PauseAfter
from schedules.spec.retry import RetrySpec
from schedules.spec.steps import TaskQueue
from schedules.text.shown import shown

FORMAT_VERSION = 1
NO_ENVIRONMENT = "default"


def _not_given() -> None:
    """What is left out here is decided by each job; a factory, so that the JSON Schema names no default."""


def _as_in_job(name: str) -> Any:
    field = JobSpec.model_fields[name]
    return Field(default_factory=_not_given, alias=field.alias, description=field.description, examples=field.examples)


class Defaults(Spec):
    """Values for jobs that do not set their own."""

    timezone: Timezone = _as_in_job("timezone")
    dst: DstSpec = _as_in_job("dst")
    only: Items[str] = _as_in_job("only")
    without: Items[str] = _as_in_job("without")
    on_holiday: OnHoliday = _as_in_job("on_holiday")
    lint: LintSpec = _as_in_job("lint")
    timeout: AtLeastOneSecond = _as_in_job("timeout")
    catchup: CatchUpSpec | None = _as_in_job("catchup")
    start_deadline: AtLeastOneSecond | None = _as_in_job("start_deadline")
    deadline: Duration | None = _as_in_job("deadline")
    heartbeat_timeout: AtLeastFiveSeconds = _as_in_job("heartbeat_timeout")
    retry: RetrySpec = _as_in_job("retry")
    overlap: Overlap = _as_in_job("overlap")
    jitter: Duration = _as_in_job("jitter")
    mode: Mode = _as_in_job("mode")
    start_at: LocalTime | None = _as_in_job("start_at")
    task_queue: TaskQueue = _as_in_job("task_queue")
    paused: bool | None = _as_in_job("paused")
    labels: dict[LabelName, Label] = _as_in_job("labels")
    contact: Label = _as_in_job("contact")
    runbook: PageAddress = _as_in_job("runbook")
    on_failure: OnFailure | None = _as_in_job("on_failure")
    on_recovery: Names | None = _as_in_job("on_recovery")
    on_missed: OnMissed | None = _as_in_job("on_missed")
    pause_after: PauseAfter | None = _as_in_job("pause_after")
    alerts: AlertsSpec = _as_in_job("alerts")


SHARED = tuple(field.alias or name for name, field in Defaults.model_fields.items())


def _check_version(value: object) -> object:
    if value != FORMAT_VERSION or isinstance(value, bool | float):
        raise ValueError(f"{shown(value)} is not a known version; write {FORMAT_VERSION}")
    return value


def check_environment(name: str) -> str:
    """The name itself if an environment may have it. Raises ValueError."""
    if name == NO_ENVIRONMENT:
        raise ValueError(f"`{name}` is what applies without --env; put its values under `defaults` and into the jobs")
    return name


def _nothing_as_empty(value: object) -> object:
    return {} if value is None else value


NamePrefix = Annotated[str, AfterValidator(lambda prefix: prefix and check_job_name(prefix))]
EnvironmentName = Annotated[OwnerPart, AfterValidator(check_environment)]
DefaultsField = Annotated[Defaults, BeforeValidator(_nothing_as_empty, json_schema_input_type=Defaults | None)]


class Environment(Spec):
    """Differences of one environment, which `--env` chooses."""

    defaults: DefaultsField = Field(
        default_factory=Defaults, description="Keys that replace those of the file's `defaults`."
    )
    name_prefix: NamePrefix = Field(
        default="",
        description="Put before the names of the file's jobs in this environment, if it shares a namespace with another.",
        examples=["stg-"],
    )
    jobs: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Keys that replace those of the job, by job."
    )


EnvironmentField = Annotated[Environment, BeforeValidator(_nothing_as_empty, json_schema_input_type=Environment | None)]
Calendars = dict[LocalName, CalendarSpec]
Channels = dict[LocalName, ChannelSpec]
Environments = dict[EnvironmentName, EnvironmentField]


class SpecFile(Spec):
    """One spec file. Its defaults, calendars and channels apply to this file only."""

    version: Annotated[int, BeforeValidator(_check_version), WithJsonSchema({"const": FORMAT_VERSION})] = Field(
        description="Version of the format.", examples=[FORMAT_VERSION]
    )
    project: OwnerPart = Field(
        description="Name of the project; with the environment it owns the schedules.",
        examples=["billing"],
    )
    defaults: DefaultsField = Field(default_factory=Defaults, description="Values for jobs that do not set their own.")
    environments: Annotated[
        Environments, BeforeValidator(_nothing_as_empty, json_schema_input_type=Environments | None)
    ] = Field(default_factory=dict, description="Differences of each environment.")
    default_environment: OwnerPart | None = Field(
        default=None,
        description="Environment that is chosen without `--env`; `default` means none of them. A file with `environments` needs this key or `--env`.",
        examples=["production"],
    )
    calendars: Annotated[Calendars, BeforeValidator(_nothing_as_empty, json_schema_input_type=Calendars | None)] = (
        Field(
            default_factory=dict, description="Named sets of local dates, for `only` and `except` of this file's jobs."
        )
    )
    channels: Annotated[Channels, BeforeValidator(_nothing_as_empty, json_schema_input_type=Channels | None)] = Field(
        default_factory=dict,
        description="Named ways to reach people, for `on_failure` and other notices of this file's jobs.",
    )
    jobs: dict[str, dict[str, Any]] = Field(
        description="The jobs by name.",
        examples=[{}],
    )
