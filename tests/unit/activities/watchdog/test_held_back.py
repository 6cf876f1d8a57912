"""Which runs keep the schedule from starting another: the watchdog and `explain` go by the same rule."""

from __future__ import annotations

from datetime import timedelta

import pytest

from activities.watchdog.held_back import held_back
from tests.unit.schedules.ledger.ledgers import NOON

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("began", "ended", "jitter", "holds"),
    [
        (-10, None, 0, True),
        (-10, 5, 0, True),
        (-10, -5, 0, False),
        (-10, -0.3, 0, True),  # The server hears of the end a moment later.
        (0.4, 5, 0, True),
        (5, 9, 0, False),
        (5, 9, 6, False),  # The time was put off, and may have come before that one.
        (-10, 7, 6, True),
        (-10, 4, 6, False),
    ],
)
def test_a_run_at_work_when_the_time_comes_holds_it_back(
    began: float, ended: float | None, jitter: float, *, holds: bool
) -> None:
    closed = None if ended is None else NOON + ended * SECOND
    assert held_back(NOON, NOON + jitter * SECOND, NOON + began * SECOND, closed) is holds
