"""Between `Times` and Temporal's ScheduleSpec message, in the normal form in which the server keeps it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.schedule.v1 import IntervalSpec, ScheduleSpec, StructuredCalendarSpec
from temporalio.api.schedule.v1 import Range as RangeMessage

from schedules.model import Calendar, Interval, Range, Ranges, Times

if TYPE_CHECKING:
    from collections.abc import Iterable

CALENDAR_FIELDS = ("second", "minute", "hour", "day_of_month", "month", "day_of_week", "year")


def to_spec(times: Times) -> ScheduleSpec:
    """The message for `times`; reading it back gives `times` again."""
    return ScheduleSpec(
        structured_calendar=[_to_calendar(calendar) for calendar in times.calendars],
        exclude_structured_calendar=[_to_calendar(calendar) for calendar in times.exclusions],
        interval=[IntervalSpec(interval=seconds(i.every), phase=seconds(i.offset)) for i in times.intervals],
        start_time=_to_timestamp(times.start_at),
        end_time=_to_timestamp(times.end_at),
        jitter=seconds(times.jitter) if times.jitter else None,
        timezone_name=times.timezone,
    )


def from_spec(message: ScheduleSpec) -> Times:
    """The times of the server's spec; an unset timezone reads as UTC, as the server takes it."""
    return Times(
        timezone=message.timezone_name or "UTC",
        calendars=tuple(_from_calendar(calendar) for calendar in message.structured_calendar),
        exclusions=tuple(_from_calendar(calendar) for calendar in message.exclude_structured_calendar),
        intervals=tuple(Interval(i.interval.seconds, i.phase.seconds) for i in message.interval),
        start_at=_from_timestamp(message.start_time) if message.HasField("start_time") else None,
        end_at=_from_timestamp(message.end_time) if message.HasField("end_time") else None,
        jitter=message.jitter.seconds,
    )


def seconds(value: int) -> Duration:
    """A Duration of whole seconds."""
    return Duration(seconds=value)


def _to_calendar(calendar: Calendar) -> StructuredCalendarSpec:
    ranges = {name: _to_ranges(getattr(calendar, name)) for name in CALENDAR_FIELDS}
    return StructuredCalendarSpec(comment=calendar.comment, **ranges)


def _from_calendar(message: StructuredCalendarSpec) -> Calendar:
    ranges = {name: _from_ranges(getattr(message, name)) for name in CALENDAR_FIELDS}
    return Calendar(comment=message.comment, **ranges)


def _to_ranges(ranges: Ranges) -> list[RangeMessage]:
    return [RangeMessage(start=r.start, end=r.end, step=r.step) for r in ranges]


def _from_ranges(messages: Iterable[RangeMessage]) -> Ranges:
    """An `end` before `start` and a `step` of 0 are the server's shorthands for "one number" and "every"."""
    return tuple(Range(m.start, max(m.start, m.end), max(m.step, 1)) for m in messages)


def _to_timestamp(time: datetime | None) -> Timestamp | None:
    return Timestamp(seconds=int(time.timestamp())) if time else None


def _from_timestamp(message: Timestamp) -> datetime:
    return datetime.fromtimestamp(message.seconds, UTC)
