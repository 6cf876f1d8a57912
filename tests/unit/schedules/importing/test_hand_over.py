"""The moment between the two sides: where it lies, and what became of each time around it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.importing.evidence import OldStart, old_starts
from schedules.importing.hand_over import ENOUGH, LEAD, boundary, handed_over, stop_text
from schedules.model import Interval, Times

NOW = datetime(2027, 3, 1, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def every(seconds: int, offset: int = 0, start_at: datetime | None = None) -> Times:
    return Times("UTC", intervals=(Interval(seconds, offset),), start_at=start_at)


@given(st.lists(st.tuples(st.integers(20, 90_000), st.integers(0, 80_000)), min_size=1, max_size=5))
def test_no_job_has_a_time_near_the_boundary(jobs: list[tuple[int, int]]) -> None:
    jobs = [(seconds, offset % seconds) for seconds, offset in jobs]
    found = boundary([every(*job) for job in jobs], NOW)
    assert found is not None
    assert NOW + LEAD <= found.after < found.at < found.before <= NOW + LEAD + timedelta(days=1)
    for seconds, offset in jobs:
        for at in range(int(found.after.timestamp()) + 1, int(found.before.timestamp())):
            assert (at - offset) % seconds


def test_the_first_pause_that_is_long_enough_is_taken() -> None:
    found = boundary([every(3600), every(3600, 60)], NOW)
    assert found is not None
    assert (found.after, found.before) == (NOW + LEAD, NOW + HOUR)
    busy = boundary([every(60), every(60, 20)], NOW)
    assert busy is not None
    assert busy.before - busy.after == timedelta(seconds=40) < ENOUGH


def starts(*hours: int, claims: bool = False) -> list[OldStart]:
    return [OldStart(NOW + hour * HOUR + timedelta(seconds=2), "backup", "cron", claims) for hour in hours]


@pytest.mark.parametrize(
    ("old", "new", "twice", "neither"),
    [
        ((0, 1, 2), (3, 4, 5), (), ()),
        ((0, 1, 2, 3), (3, 4, 5), (3,), ()),
        ((0, 1), (3, 4, 5), (), (2,)),
        ((0, 1, 2), (3, 5), (), (4,)),
    ],
)
def test_each_time_is_counted_by_who_did_it(
    old: tuple[int, ...], new: tuple[int, ...], twice: tuple[int, ...], neither: tuple[int, ...]
) -> None:
    times, at = every(3600, start_at=NOW + 2.5 * HOUR), NOW + 5.5 * HOUR
    found = handed_over("backup", times, [NOW + hour * HOUR for hour in new], starts(*old), NOW, at)
    assert found.twice == tuple(NOW + hour * HOUR for hour in twice)
    assert found.neither == tuple(NOW + hour * HOUR for hour in neither)
    assert (len(found.old), len(found.new)) == (len(old), len(new))
    assert found.equal == (not twice and not neither)


def test_a_line_that_claims_is_no_work_of_the_old_side() -> None:
    times = every(3600, start_at=NOW - HOUR)
    found = handed_over("backup", times, [NOW, NOW + HOUR], starts(0, 1, claims=True), NOW, NOW + 1.5 * HOUR)
    assert found.equal


def test_a_claiming_line_names_its_job() -> None:
    line = "2027-03-01T09:00:01Z host CRON[1]: (u) CMD (/usr/bin/tickwright claim --if-unreachable run backup -- /srv/b.sh --all)"
    [start] = old_starts(line, "UTC", NOW)
    assert (start.key, start.claims, start.side) == ("backup", True, "cron")


@pytest.mark.parametrize(
    ("side", "said"),
    [
        ("cron", "comment out `backup`"),
        ("cronjob", 'kubectl patch cronjob backup -p \'{"spec":{"suspend":true}}\''),
        ("celery", "disable the entry `backup` of beat"),
        ("other", "stop `backup`"),
    ],
)
def test_each_old_side_is_stopped_in_its_own_way(side: str, said: str) -> None:
    assert stop_text(OldStart(NOW, "backup", side)) == said  # type: ignore[arg-type]  # one of Side
