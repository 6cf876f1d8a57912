"""The times at which the schedule of a late run was due, by what the schedule tells of itself."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from temporalio.api.workflowservice.v1 import DescribeScheduleResponse

from activities.account.record import SchedulerRecord
from activities.contract import CatchUpRequest, LateStart, TimesRequest
from activities.late.due import Calendar, due_times
from activities.occurrence import stamp
from schedules.model import Interval, Times
from schedules.notes import sync_note
from schedules.server.translate_times import from_spec, to_spec
from tests.factories import utc
from worker.times import occurrences

if TYPE_CHECKING:
    from datetime import datetime

NOON = utc("2027-03-01T12:00")
MINUTE = timedelta(minutes=1)
V1, V2 = (7).to_bytes(8, "big"), (7).to_bytes(8, "little")
QUARTERS = TimesRequest("UTC", intervals=[[900, 0]])
"""Of which the spec had been until a sync at noon made it one of every ten minutes."""


def schedule(token: bytes, updated: datetime, note: str) -> DescribeScheduleResponse:
    found = DescribeScheduleResponse(conflict_token=token)
    found.schedule.spec.CopyFrom(to_spec(Times("UTC", intervals=(Interval(600),))))
    found.schedule.state.notes = note
    found.info.update_time.FromDatetime(updated)
    return found


def first_due(described: DescribeScheduleResponse) -> list[str]:
    late = LateStart(
        "close",
        "close",
        "",
        "",
        stamp(NOON - 15 * MINUTE),
        stamp(NOON + 50 * MINUTE),
        stamp(NOON + 50 * MINUTE),
        QUARTERS,
        CatchUpRequest("run_latest", "skip", 60.0, 3600.0),
    )
    calendar = Calendar(occurrences, lambda spec: occurrences(_request(from_spec(spec))))
    due = due_times(late, calendar, occurrences(QUARTERS), described, SchedulerRecord())
    at, found = NOON - MINUTE, list[str]()
    while len(found) < 4:
        at = due.next_after(at) or at
        found.append(f"{at:%H:%M}")
    return found


def _request(times: Times) -> TimesRequest:
    return TimesRequest(times.timezone, intervals=[[each.every, each.offset] for each in times.intervals])


SYNCED = sync_note("updated", "ann@host", NOON + MINUTE, "")


@pytest.mark.parametrize(
    ("token", "updated", "note", "expected"),
    [
        # On V2 a trigger or a backfill at 12:35 moves the time of the update; the note of the sync stays.
        (V2, NOON + 35 * MINUTE, SYNCED, "12:00 12:10 12:20 12:30"),
        (V2, NOON + 35 * MINUTE, "resumed by bob@host", "12:00 12:15 12:30 12:40"),
        (V2, NOON + 35 * MINUTE, "", "12:00 12:15 12:30 12:40"),
        # On V1 it is moved by updates alone, of which somebody else may have made one.
        (V1, NOON + 35 * MINUTE, SYNCED, "12:00 12:15 12:30 12:40"),
        # The clock of whoever syncs may be ahead.
        (V2, NOON + 30 * timedelta(seconds=1), SYNCED, "12:00 12:10 12:20 12:30"),
    ],
)
def test_the_spec_holds_from_when_it_was_written(token: bytes, updated: datetime, note: str, expected: str) -> None:
    assert first_due(schedule(token, updated, note)) == expected.split()
