"""Which runs keep the schedule from starting another: late starts and `explain` go by the same rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from activities.account.held_back import held_back, holder_among, let_go_in_time
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


@dataclass(frozen=True)
class Execution:
    start_time: datetime
    close_time: datetime | None


def execution(began: float, ended: float | None) -> Execution:
    return Execution(NOON + began * SECOND, None if ended is None else NOON + ended * SECOND)


@pytest.mark.parametrize(
    ("runs", "holder"),
    [
        (
            [(-80, -0.1), (0.03, 2.4)],
            1,
        ),  # A queue is worked off: the second started in the moment at which this was due.
        ([(-80, -0.1)], 0),
        ([(-80, 5)], 0),
        ([(0.03, 2.4)], None),  # Nothing was at work before: the schedule itself may have been away.
        ([(-80, -3), (0.03, 2.4)], None),
        ([(-80, -3)], None),
        ([], None),
    ],
)
def test_a_start_waits_for_the_queue_before_it(runs: list[tuple[float, float]], holder: int | None) -> None:
    given = [execution(*run) for run in runs]
    assert holder_among(given, NOON) == (None if holder is None else given[holder])


@pytest.mark.parametrize(
    ("due", "started", "in_time"),
    [
        (-30, 2, True),  # It stood in the queue behind the run that ended at -5, also when something was due at 0.
        (-30, 60, False),  # The server may have been away.
        (-4, 2, False),  # No run was at work when it was due.
    ],
)
def test_a_start_stands_in_the_queue_until_it_begins_within_grace_of_the_end_of_what_held_it(
    due: float, started: float, *, in_time: bool
) -> None:
    runs = [execution(-90, -60), execution(-60, -5)]
    assert let_go_in_time(runs, NOON + due * SECOND, NOON + started * SECOND, 15 * SECOND) is in_time
