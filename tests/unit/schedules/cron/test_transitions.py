"""What one change of clocks takes from the local days that it meets."""

from __future__ import annotations

import pytest

from schedules.cron.epoch import DAY, HOUR
from schedules.cron.transitions import Night


@pytest.mark.parametrize(
    ("low", "high", "day"),
    [
        (23 * HOUR, DAY, None),  # It becomes midnight at 23:00.
        (DAY, DAY + HOUR, 1),  # It becomes 01:00 at midnight.
        (23 * HOUR + 1800, DAY + 1800, 1),
        (DAY + HOUR, DAY + 2 * HOUR, None),
    ],
)
def test_a_gap_takes_the_midnight_that_lies_in_it(low: int, high: int, day: int | None) -> None:
    assert Night(low, high, gap=True, at=0, before=0, after=high - low).missing_midnight() == day
    assert Night(low, high, gap=False, at=0, before=high - low, after=0).missing_midnight() is None
