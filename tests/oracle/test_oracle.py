"""The oracle against cases worked by hand from published clock changes."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from tests.oracle.cron_text import read
from tests.oracle.real_time import changes, runs


def at(text: str) -> datetime:
    return datetime.fromisoformat(text + ":00Z")


def answer(expression: str, zone: str, start: str, end: str, gap: str, repeat: str) -> list[str]:
    found = runs(expression, dialect="cron", zone=zone, gap=gap, repeat=repeat, start=at(start), end=at(end))
    return [f"{instant:%dT%H:%M}" for instant in found]


@pytest.mark.parametrize(
    ("gap", "expected"),
    # clocks in New York went from 02:00 EST (07:00Z) to 03:00 EDT on 2027-03-14
    [
        ("run_after", ["13T07:30", "14T07:00", "15T06:30"]),
        ("shift", ["13T07:30", "14T07:30", "15T06:30"]),
        ("skip", ["13T07:30", "15T06:30"]),
    ],
)
def test_half_past_two_on_the_day_without_it_in_new_york(gap: str, expected: list[str]) -> None:
    assert answer("30 2 * * *", "America/New_York", "2027-03-13T00:00", "2027-03-16T00:00", gap, "first") == expected


@pytest.mark.parametrize(
    ("repeat", "expected"),
    # 01:30 EDT is 05:30Z, 01:30 EST is 06:30Z on 2027-11-07
    [("first", ["07T05:30"]), ("second", ["07T06:30"]), ("both", ["07T05:30", "07T06:30"])],
)
def test_half_past_one_twice_in_new_york(repeat: str, expected: list[str]) -> None:
    assert answer("30 1 * * *", "America/New_York", "2027-11-07T00:00", "2027-11-08T00:00", "skip", repeat) == expected


def test_an_hourly_job_follows_real_time_in_berlin() -> None:
    expected = ["30T23:00", "31T00:00", "31T01:00", "31T02:00"]
    assert (
        answer("0 * * * *", "Europe/Berlin", "2027-10-30T22:30", "2027-10-31T02:30", "run_after", "first") == expected
    )


def test_lord_howe_repeats_half_an_hour() -> None:
    # 2027-04-04: 02:00+11 becomes 01:30+10:30 at 15:00Z on the 3rd, so 01:45 is 14:45Z and 15:15Z
    assert answer("45 1 * * *", "Australia/Lord_Howe", "2027-04-03T10:00", "2027-04-04T00:00", "skip", "both") == [
        "03T14:45",
        "03T15:15",
    ]


def test_havana_has_no_midnight_in_march() -> None:
    # 2027-03-14: 00:00-05 becomes 01:00-04 at 05:00Z
    assert answer("0 0 * * *", "America/Havana", "2027-03-14T00:00", "2027-03-15T00:00", "run_after", "first") == [
        "14T05:00"
    ]
    assert changes("America/Havana", 2027, 2027)[0] == at("2027-03-14T05:00")


@pytest.mark.parametrize(
    ("expression", "dialect", "yes", "no"),
    [
        ("0 0 L * *", "cron", date(2028, 2, 29), date(2028, 2, 28)),
        ("0 0 L-3 * *", "cron", date(2027, 3, 28), date(2027, 3, 29)),
        ("0 0 LW * *", "cron", date(2027, 2, 26), date(2027, 2, 28)),  # 28 February 2027 is a Sunday
        ("0 0 1W * *", "cron", date(2027, 5, 3), date(2027, 5, 1)),  # 1 May 2027 is a Saturday
        ("0 0 15W * *", "cron", date(2027, 5, 14), date(2027, 5, 15)),  # 15 May 2027 is a Saturday
        ("0 0 * * 5#1", "cron", date(2027, 1, 1), date(2027, 1, 8)),
        ("0 0 * * 5L", "cron", date(2027, 1, 29), date(2027, 1, 22)),
        ("0 0 13 * 5", "cron", date(2027, 1, 1), date(2027, 1, 2)),  # a Friday is enough
        ("0 0 */2 * 1", "cron", date(2027, 1, 11), date(2027, 1, 4)),  # both needed: Monday the 4th is even
        ("0 0 */2 * 1", "kubernetes", date(2027, 1, 4), date(2027, 1, 2)),  # either suffices
        ("0 0 13 * 5", "temporal", date(2027, 8, 13), date(2027, 1, 1)),  # Friday the 13th alone
        ("0 0 0 ? * 1", "quartz", date(2027, 1, 3), date(2027, 1, 4)),  # 1 is Sunday
        ("0 0 * * FRI-MON", "cron", date(2027, 1, 3), date(2027, 1, 6)),
        ("0 0 * * 5-7", "cron", date(2027, 1, 3), date(2027, 1, 4)),
        ("0 0 0 * * */2", "spring", date(2027, 1, 4), date(2027, 1, 5)),  # Monday, Wednesday, Friday, Sunday
        ("0 0 0 * * 5/2", "spring", date(2027, 1, 3), date(2027, 1, 2)),
        ("0 0 0 * * */7", "spring", date(2027, 1, 4), date(2027, 1, 3)),  # Monday alone
        ("0 0 * * 5/2", "temporal", date(2027, 1, 3), date(2027, 1, 2)),
        ("0 0 * * 5/2", "kubernetes", date(2027, 1, 1), date(2027, 1, 3)),
    ],
)
def test_dates_of_the_calendar_on_the_wall(expression: str, dialect: str, yes: date, no: date) -> None:
    text = read(expression, dialect)
    assert text.on_date(yes)
    assert not text.on_date(no)


def test_a_window_is_open_at_both_ends() -> None:
    assert runs(
        "0 * * * *",
        dialect="cron",
        zone="UTC",
        gap="skip",
        repeat="both",
        start=datetime(2027, 1, 1, 1, tzinfo=UTC),
        end=datetime(2027, 1, 1, 3, tzinfo=UTC),
    ) == [datetime(2027, 1, 1, 2, tzinfo=UTC)]
