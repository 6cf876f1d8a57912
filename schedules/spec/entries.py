"""Entries of `schedule`: cron expressions, distances, single times, calendars and business days."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    model_validator,
)

from schedules.cron import CronError
from schedules.cron.check import check_cron
from schedules.spec.direct import CalendarText
from schedules.spec.fields import (
    AtLeastOneSecond,
    ClockTime,
    Duration,
    FieldError,
    LocalTime,
    SomeItems,
    Spec,
)
from schedules.text.duration import format_duration
from schedules.text.nearest import suggestion
from schedules.text.shown import shown

MOST_BUSINESS_DAYS = 31


DialectName = Literal["cron", "quartz", "spring", "kubernetes", "eventbridge", "celery", "temporal"]


class CronEntry(Spec):
    """Times given as a cron expression."""

    cron: str = Field(
        description="Five fields (minute hour day month weekday), a name such as `@daily`, or an expression of the `dialect`.",
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
    """Times at a fixed distance, counted from 1970-01-01T00:00Z, independent of time zones."""

    every: AtLeastOneSecond = Field(description="Distance, at least 1s.", examples=["5m"])
    offset: Duration = Field(default=timedelta(0), description="Shift of all times, shorter than `every`.")

    @model_validator(mode="after")
    def _offset_within(self) -> Self:
        if self.offset >= self.every:
            offset, every = format_duration(self.offset), format_duration(self.every)
            raise FieldError("offset", f"{offset} is not shorter than every: {every}; write less than {every}")
        return self


class AtEntry(Spec):
    """One time."""

    at: LocalTime = Field(
        description="Local time in the job's timezone, or a time with an offset.", examples=["2027-03-01T09:00"]
    )


class CalendarEntry(Spec):
    """Times in the server's own form: seven fields that must all match, with the server's treatment of clock changes."""

    calendar: CalendarText = Field(
        description="`second minute hour day month weekday year`, with an optional `# comment`; 0 is Sunday.",
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
