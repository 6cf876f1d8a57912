"""The times of a schedule whose spec was changed and that was paused."""

from __future__ import annotations

from datetime import datetime, timedelta

from activities.account.due_times import DueTimes, Span, without
from activities.contract import TimesRequest
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON
from worker.times import occurrences

TEN, HALF_HOURS = (occurrences(TimesRequest("UTC", intervals=[[minutes * 60, 0]])) for minutes in (10, 30))
DUE = DueTimes(
    without(
        [Span(NOON - 60 * MINUTE, NOON, TEN), Span(NOON, NOON + 120 * MINUTE, HALF_HOURS)],
        [(NOON - 25 * MINUTE, NOON - 5 * MINUTE), (NOON + 45 * MINUTE, NOON + 75 * MINUTE)],
    )
)
EXPECTED = [-50, -40, -30, 0, 30, 90, 120]
"""Minutes: every ten up to noon, then each half hour, without those in a pause."""


def minutes(at: datetime | None) -> int | None:
    return None if at is None else (at - NOON) // MINUTE


def test_forwards_and_backwards_they_are_those_of_the_spec_of_each_moment_outside_pauses() -> None:
    at: datetime | None = NOON - 61 * MINUTE
    forwards = [minutes(at) for _ in EXPECTED if (at := DUE.next_after(at or NOON))]
    assert forwards == EXPECTED
    assert DUE.next_after(NOON + 120 * MINUTE) is None
    at = NOON + 121 * MINUTE
    backwards = [minutes(at) for _ in EXPECTED if (at := DUE.previous_before(at or NOON))]
    assert backwards == EXPECTED[::-1]
    assert DUE.previous_before(NOON - 50 * MINUTE) is None


def test_they_are_counted_from_the_first_instant_up_to_the_last() -> None:
    for begin in range(-60, 125, 5):
        for end in range(begin, 125, 5):
            wanted = sum(begin <= at < end for at in EXPECTED)
            assert DUE.count_between(NOON + begin * MINUTE, NOON + timedelta(minutes=end)) == wanted
