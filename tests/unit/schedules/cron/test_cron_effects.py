"""The local times that meet a change of clocks are told with what becomes of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schedules.cron import Gap, Repeat, clock_effects

START, END = datetime(2027, 1, 1, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)


def told(text: str, timezone: str, gap: Gap = "run_after", repeat: Repeat = "first") -> list[str]:
    found = clock_effects(text, timezone=timezone, gap=gap, repeat=repeat, start=START, end=END)
    return [
        f"{each.local:%m-%dT%H:%M} {each.kind} {' '.join(f'{instant:%dT%H:%M}' for instant in each.instants)}".rstrip()
        for each in found
    ]


@pytest.mark.parametrize(("gap", "runs"), [("run_after", "14T07:00"), ("shift", "14T07:30"), ("skip", "")])
def test_a_missing_time_of_new_york(gap: Gap, runs: str) -> None:
    assert told("30 2 * * *", "America/New_York", gap) == [f"03-14T02:30 missing {runs}".rstrip()]


@pytest.mark.parametrize(
    ("repeat", "runs"), [("first", "31T00:30"), ("second", "31T01:30"), ("both", "31T00:30 31T01:30")]
)
def test_a_repeated_time_of_berlin(repeat: Repeat, runs: str) -> None:
    assert told("30 2 * 4-12 *", "Europe/Berlin", repeat=repeat) == [f"10-31T02:30 repeated {runs}"]


def test_both_changes_of_a_year_in_their_order() -> None:
    assert told("0,45 2 * * *", "Europe/Berlin") == [
        "03-28T02:00 missing 28T01:00",
        "03-28T02:45 missing 28T01:00",
        "10-31T02:00 repeated 31T00:00",
        "10-31T02:45 repeated 31T00:45",
    ]


@pytest.mark.parametrize(
    ("text", "timezone"),
    [
        ("30 3 * * *", "Europe/Berlin"),  # the hour after
        ("30 1 * * *", "Europe/Berlin"),  # the hour before: compiled with care, yet it means one time
        ("30 2 * * 1-5", "Europe/Berlin"),  # clocks change on Sundays
        ("*/30 * * * *", "Europe/Berlin"),  # follows real time
        ("30 2 * * *", "Asia/Kolkata"),
        ("@every 30m", "Europe/Berlin"),
    ],
)
def test_what_meets_no_change_has_no_effect(text: str, timezone: str) -> None:
    assert told(text, timezone) == []


def test_half_an_hour_of_lord_howe() -> None:
    assert told("0,15,30,45 1,2 * * *", "Australia/Lord_Howe", repeat="second") == [
        "04-04T01:30 repeated 03T15:00",
        "04-04T01:45 repeated 03T15:15",
        "10-03T02:00 missing 02T15:30",
        "10-03T02:15 missing 02T15:30",
    ]


@pytest.mark.parametrize(
    ("text", "dialect"),
    [("? ? * * *", "kubernetes"), ("0 ? * * *", "kubernetes"), ("0 0 /3 * * ?", "quartz"), ("0 /5 2 * * ?", "quartz")],
)
def test_another_way_to_write_a_star_follows_real_time_too(text: str, dialect: str) -> None:
    """robfig reads `?` as `*` in every field, Quartz `/5` as `*/5`."""
    assert clock_effects(text, dialect=dialect, timezone="Europe/Berlin", start=START, end=END) == ()
