"""The occurrence that a claim without a time is for: the newest one, by a clock that is ahead by seconds at most."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from schedules.errors import SettingsError
from schedules.operating.claim import _scheduled
from schedules.recurrence import Interval, Times

MINUTE = datetime(2027, 3, 1, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize("late", [0, 3, 20, 33, 54])
def test_it_is_the_newest_however_late_in_its_minute_it_is_claimed(late: int) -> None:
    times = Times("UTC", intervals=(Interval(60),))
    assert _scheduled(times, "job", None, MINUTE + timedelta(seconds=late)) == MINUTE


def test_a_clock_that_is_some_seconds_ahead_claims_its_own() -> None:
    times = Times("UTC", intervals=(Interval(60),))
    assert _scheduled(times, "job", None, MINUTE - timedelta(seconds=4)) == MINUTE


def test_a_time_to_come_is_refused_since_its_work_would_be_done_now() -> None:
    times = Times("UTC", intervals=(Interval(3_600),))
    with pytest.raises(SettingsError, match="`job` is due in 3h, and a claim runs its command at once"):
        _scheduled(times, "job", "2027-03-01T12:00:00Z", MINUTE)
    assert _scheduled(times, "job", "2027-03-01T09:00:00Z", MINUTE - timedelta(seconds=4)) == MINUTE
