"""The times of a job, for activities that ask for them.

What computes them is loaded with the first question: a run on time asks none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.late.due import Calendar

if TYPE_CHECKING:
    from datetime import datetime

    from temporalio.api.schedule.v1 import ScheduleSpec

    from activities.contract import TimesRequest
    from schedules.cron.occurrences import Occurrences


def occurrences(times: TimesRequest) -> Occurrences:
    """The job's times, made ready to be asked for."""
    from schedules.cron.occurrences import occurrences_of
    from schedules.times.wire import from_request

    return occurrences_of(from_request(times))


def occurrences_of_spec(spec: ScheduleSpec) -> Occurrences:
    """The times of a schedule as the server has it."""
    from schedules.cron.occurrences import occurrences_of
    from schedules.server.translate_times import from_spec

    return occurrences_of(from_spec(spec))


CALENDAR = Calendar(occurrences, occurrences_of_spec)


def previous_occurrence(times: TimesRequest, scheduled_at: datetime) -> datetime | None:
    """The job's scheduled time before this one."""
    return occurrences(times).previous_before(scheduled_at)
