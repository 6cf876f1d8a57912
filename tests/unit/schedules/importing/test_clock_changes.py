"""What the schedulers that jobs come from do with 02:30 in the two nights of 2027 in which Berlin changes its clocks."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest

from schedules.importing.proof import Difference, Proof
from schedules.importing.rules import ClockChanges, GridRule, WallRule

SKIPPED, REPEATED = "2027-03-28", "2027-10-31"
"""At 01:00 UTC it becomes 03:00 instead of 02:00, and 02:00 instead of 03:00."""


def fires(day: str, changes: ClockChanges, *, real_time: bool = False) -> list[str]:
    """The times of day in UTC."""
    rule = WallRule((time(2, 30),), lambda _: True, "Europe/Berlin", changes, real_time)
    noon = datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC)
    return [f"{at:%H:%M}" for at in rule.between(noon - timedelta(hours=18), noon)]


@pytest.mark.parametrize(
    ("changes", "real_time", "skipped", "repeated"),
    [
        ("literal", False, [], ["00:30", "01:30"]),
        ("vixie", False, ["01:00"], ["00:30"]),
        ("vixie", True, [], ["00:30", "01:30"]),
        ("once", False, [], ["00:30"]),
        ("shift", False, ["01:30"], ["00:30", "01:30"]),
    ],
)
def test_a_time_that_is_skipped_or_repeated(
    changes: ClockChanges, real_time: bool, skipped: list[str], repeated: list[str]
) -> None:
    assert fires(SKIPPED, changes, real_time=real_time) == skipped
    assert fires(REPEATED, changes, real_time=real_time) == repeated


def test_a_grid_is_counted_from_1970_and_begins_at_its_first_time_in_the_span() -> None:
    rule, start = GridRule(timedelta(minutes=7)), datetime(1970, 1, 1, 0, 8, tzinfo=UTC)
    found = [at.minute for at in rule.between(start, start + timedelta(minutes=20))]
    assert found == [14, 21]
    assert next(rule.between(start - timedelta(minutes=1), start)).minute == 7


@pytest.mark.parametrize(("clock_change", "more", "explained"), [(True, 0, True), (False, 0, False), (True, 1, False)])
def test_only_differences_that_are_all_shown_are_explained_by_clock_changes(
    clock_change: bool, more: int, explained: bool
) -> None:
    difference = Difference(datetime(2027, 3, 28, 1, tzinfo=UTC), "old", clock_change)
    assert Proof(1, (), (), (difference,), more, ()).explained == explained
