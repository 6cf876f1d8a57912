"""What starts in a span of time, and what becomes of it if nothing can start until its end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from activities.contract import CatchUpRequest
from schedules.errors import SettingsError
from schedules.ledger.forecast import Planned, effect_of, forecast
from schedules.model import Interval, Times
from schedules.views.forecast import effect_text, remarks
from tests.factories import utc

NOON = utc("2027-03-01T12:00")
MINUTE = timedelta(minutes=1)
STARTS = tuple(NOON + number * 10 * MINUTE for number in range(6))
"""12:00, 12:10 … 12:50."""
END = NOON + 60 * MINUTE


def every(minutes: int, name: str = "relay", **fields: Any) -> Planned:
    return Planned(
        **{"name": name, "times": Times("UTC", intervals=(Interval(minutes * 60),)), "overlap": "skip", **fields}
    )


def catchup(policy: Any, **fields: Any) -> CatchUpRequest:
    return CatchUpRequest(**{"policy": policy, "overlap": "skip", "late_after": 60.0, "window": 3600.0, **fields})


@pytest.mark.parametrize(
    ("given", "late", "skipped", "too_late"),
    [
        (every(10, catchup=catchup("skip")), [], 6, 0),
        (every(10, catchup=catchup("run_latest")), [50], 5, 0),
        (every(10, catchup=catchup("run_all", max_missed=2)), [40, 50], 4, 0),
        (every(10, catchup=catchup("run_all", max_missed=9)), [0, 10, 20, 30, 40, 50], 0, 0),
        (every(10, catchup=catchup("run_latest", start_deadline=1800.0)), [50], 2, 3),
        (every(10, catchup=catchup("run_latest", start_deadline=300.0)), [], 0, 6),
        (every(10, catchup=catchup("skip", late_after=600.0)), [50], 5, 0),
        (every(10, window=86_400), [0], 5, 0),
        (every(10, window=1800), [30], 2, 3),
        (every(10, overlap="buffer_one"), [0, 10], 4, 0),
        (every(10, overlap="cancel_other"), [50], 5, 0),
        (every(10, overlap="allow_all"), [0, 10, 20, 30, 40, 50], 0, 0),
    ],
)
def test_each_policy_makes_of_a_window_what_it_says(
    given: Planned, late: list[int], skipped: int, too_late: int
) -> None:
    effect = effect_of(given, STARTS, END)
    assert effect
    assert [(at - NOON) // MINUTE for at in effect.late] == late
    assert (effect.skipped, effect.too_late) == (skipped, too_late)


def test_nothing_is_said_of_a_job_whose_policies_are_not_known() -> None:
    assert effect_of(every(10, overlap=None), STARTS, END) is None
    assert effect_text(None) == "?"


def test_starts_are_counted_by_minute_without_paused_jobs() -> None:
    jobs = [every(10), every(30, "hourly"), every(5, "resting", paused=True)]
    found = forecast(jobs, NOON, END)
    assert found.starts == 8
    assert found.minutes == {at: 2 if at in {STARTS[0], STARTS[3]} else 1 for at in STARTS}
    assert found.crowded == [(STARTS[0], 2), (STARTS[3], 2)]
    assert [each.job.name for each in found.paused] == ["resting"]


def test_spans_without_any_start_are_told_longest_first() -> None:
    found = forecast([every(45)], NOON, NOON + 120 * MINUTE)  # 12:00, 12:45, 13:30
    assert found.quiet == [
        (NOON + MINUTE, NOON + 45 * MINUTE),
        (NOON + 46 * MINUTE, NOON + 90 * MINUTE),
        (NOON + 91 * MINUTE, NOON + 120 * MINUTE),
    ]
    assert forecast([], NOON, END).quiet == [(NOON, END)]


def test_a_span_with_too_many_starts_is_refused() -> None:
    second = Planned("busy", Times("UTC", intervals=(Interval(1),)), overlap="skip")
    with pytest.raises(SettingsError, match="write a shorter --for"):
        forecast([second], NOON, NOON + timedelta(days=12))


def test_the_remarks_name_the_whole_and_the_paused() -> None:
    told = list(remarks(forecast([every(30), every(30, "resting", paused=True)], NOON, END)))
    assert told[0] == "2027-03-01T12:00:00Z to 2027-03-01T13:00:00Z: 2 starts of 1 job"
    assert told[-1] == "not counted, because they are paused: resting"


def test_a_pause_until_a_time_holds_back_only_what_is_due_before() -> None:
    resting = every(10, "resting", paused=True, resumes_at=NOON + 30 * MINUTE)
    for_good = every(10, "for-good", paused=True)
    found = forecast([resting, for_good], NOON, END)
    assert [(each.job.name, each.starts) for each in found.jobs] == [("resting", STARTS[3:])]
    assert [(each.job.name, each.starts) for each in found.paused] == [("for-good", STARTS), ("resting", STARTS[:3])]
    assert found.starts == 3
    assert "not counted, because they are paused: for-good, resting (until 2027-03-01T12:30:00Z)" in list(
        remarks(found)
    )
