"""Field types of the spec format: each with its check, its message and its JSON Schema."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Strict, WithJsonSchema

from schedules.text.duration import PATTERN as DURATION
from schedules.text.duration import format_duration, parse_duration
from schedules.text.shown import shown
from schedules.text.zone import check_timezone

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
LOCAL_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?$"
CLOCK_TIME = r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$"
LONGEST_NAME = 200
LONGEST_OWNER_PART = 100
RESERVED = ("tickwright-", "temporal-sys-")
"""What the ids of Tickwright's and Temporal's own schedules and workflows begin with."""
LOCAL_NAME = {"type": "string", "pattern": NAME, "maxLength": LONGEST_NAME}
JOB_NAME = LOCAL_NAME | {"not": {"pattern": f"^({'|'.join(RESERVED)})"}}
OWNER_PART = {"type": "string", "pattern": NAME, "maxLength": LONGEST_OWNER_PART}


class Spec(BaseModel):
    """What all parts of the format share: unknown keys are errors, no type is guessed, nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


class FieldError(ValueError):
    """A fault that shows only beside other fields, told at the field (`retry.initial`) that is to be changed."""

    def __init__(self, field: str, message: str) -> None:
        """`field` is a dotted path from the model that checks."""
        self.field = tuple(field.split("."))
        super().__init__(message)


def _checked_name(name: object, longest: int) -> str:
    if not isinstance(name, str) or not re.fullmatch(NAME, name, re.ASCII):
        raise ValueError(
            f"{shown(name)} is not a name; write letters, digits, `.`, `_` and `-`, with a letter or a digit first"
        )
    if len(name) > longest:
        raise ValueError(f"a name of {len(name)} characters is too long; write {longest} at most")
    return name


def _check_local_name(name: object) -> str:
    return _checked_name(name, LONGEST_NAME)


def check_job_name(name: object) -> str:
    """The name itself if a job may have it. Raises ValueError."""
    checked = _checked_name(name, LONGEST_NAME)
    if checked.startswith(RESERVED):
        taken = next(prefix for prefix in RESERVED if checked.startswith(prefix))
        own = "Temporal's" if taken == RESERVED[1] else "Tickwright's"
        raise ValueError(
            f"{shown(checked)} is reserved: {own} own schedules and workflows begin with `{taken}`; write another name"
        )
    return checked


def check_owner_part(name: object) -> str:
    """The name itself if a project or an environment may have it. Raises ValueError."""
    return _checked_name(name, LONGEST_OWNER_PART)


def _at_least(seconds: int) -> AfterValidator:
    shortest = timedelta(seconds=seconds)

    def check(value: timedelta) -> timedelta:
        if value < shortest:
            raise ValueError(f"{format_duration(value)} is too short; write {format_duration(shortest)} or more")
        return value

    return AfterValidator(check)


def _parse_time(value: object) -> datetime:
    if isinstance(value, datetime) and not value.microsecond:
        return value
    if not isinstance(value, str) or not re.fullmatch(LOCAL_TIME, value):
        raise ValueError(
            f'{shown(value)} is not a time; write for example "2027-03-01T09:00" or "2027-03-01T09:00:00+01:00"'
        )
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError(f"{shown(value)} is not a time: {error}; check the date") from None


def _parse_clock_time(value: object) -> time:
    if isinstance(value, time) and not value.microsecond and value.tzinfo is None:
        return value
    if not isinstance(value, str) or not re.fullmatch(CLOCK_TIME, value):
        raise ValueError(f'{shown(value)} is not a time of day; write for example "09:00" or "18:30:00"')
    return time.fromisoformat(value)


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character, which no program can be given; remove it")
    return text


def _not_empty(items: tuple[object, ...]) -> tuple[object, ...]:
    if not items:
        raise ValueError("is empty; write at least one item")
    return items


Item = TypeVar("Item")
Items = Annotated[tuple[Item, ...], Strict(strict=False)]
SomeItems = Annotated[Items[Item], AfterValidator(_not_empty)]

LocalName = Annotated[str, AfterValidator(_check_local_name), WithJsonSchema(LOCAL_NAME)]
JobName = Annotated[str, AfterValidator(check_job_name), WithJsonSchema(JOB_NAME)]
OwnerPart = Annotated[str, AfterValidator(check_owner_part), WithJsonSchema(OWNER_PART)]
Duration = Annotated[
    timedelta, BeforeValidator(parse_duration), WithJsonSchema({"type": "string", "pattern": DURATION})
]
AtLeastOneSecond = Annotated[Duration, _at_least(1)]
AtLeastFiveSeconds = Annotated[Duration, _at_least(5)]
AtLeastTenMinutes = Annotated[Duration, _at_least(600)]
LocalTime = Annotated[datetime, BeforeValidator(_parse_time), WithJsonSchema({"type": "string", "pattern": LOCAL_TIME})]
ClockTime = Annotated[
    time, BeforeValidator(_parse_clock_time), WithJsonSchema({"type": "string", "pattern": CLOCK_TIME})
]
Timezone = Annotated[str, AfterValidator(check_timezone)]
Word = Annotated[str, AfterValidator(_no_nul)]
