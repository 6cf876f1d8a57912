"""Times as people write them for a question."""

from __future__ import annotations

from datetime import timedelta

import pytest

from schedules.errors import SettingsError
from schedules.ledger.due import due
from schedules.model import Calendar, Interval, Range, Times
from schedules.times.moment import local_text, parse_instant, parse_moment, short_text
from tests.factories import utc

NOW = utc("2027-06-01T12:00")
BERLIN = "Europe/Berlin"
NIGHTLY = Calendar(hour=(Range(2, 2),), minute=(Range(30, 30),))
NEW_YEAR = Calendar(
    second=(Range(0, 59),),
    minute=(Range(0, 59),),
    hour=(Range(0, 23),),
    day_of_month=(Range(1, 1),),
    month=(Range(1, 1),),
)


@pytest.mark.parametrize(
    ("text", "instants"),
    [
        ("2027-03-01T08:00", ["2027-03-01T07:00"]),
        ("2027-07-01T08:00", ["2027-07-01T06:00"]),
        ("2027-03-01T08:00Z", ["2027-03-01T08:00"]),
        ("2027-03-01T08:00-05:00", ["2027-03-01T13:00"]),
        ("2027-03-01T08:00:30.9Z", ["2027-03-01T08:00:30"]),
        ("13:00", ["2027-06-01T11:00"]),
        ("14:00", ["2027-06-01T12:00"]),
        ("14:01", ["2027-05-31T12:01"]),
        ("2027-10-31T02:30", ["2027-10-31T00:30", "2027-10-31T01:30"]),
        ("2027-03-28T02:30", ["2027-03-28T01:30"]),
    ],
)
def test_a_time_is_local_unless_it_has_an_offset_and_a_bare_clock_is_its_last(text: str, instants: list[str]) -> None:
    assert list(parse_moment(text, BERLIN, NOW).instants) == [utc(each) for each in instants]


@pytest.mark.parametrize("text", ["", "tomorrow", "25:00", "2027-13-01T00:00", "0001-01-01T00:00", "9999-12-31T23:59Z"])
def test_what_is_no_time_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(SettingsError, match="write"):
        parse_moment(text, BERLIN, NOW)


def test_a_span_counts_from_now() -> None:
    assert parse_instant("24h", NOW) == NOW - timedelta(days=1)
    assert parse_instant("2h", NOW, ahead=True) == NOW + timedelta(hours=2)
    assert parse_instant("2027-05-01", NOW) == utc("2027-05-01T00:00")
    assert parse_instant("2027-05-01", NOW, timezone=BERLIN) == utc("2027-04-30T22:00")
    with pytest.raises(SettingsError, match=r"--since .*is not a time; write 24h .*before now"):
        parse_instant("yesterday", NOW, option="--since")
    with pytest.raises(SettingsError, match=r"--until .*is not a time; write 2h .*from now"):
        parse_instant("tomorrow", NOW, ahead=True, option="--until")


@pytest.mark.parametrize(
    ("text", "ahead", "expected"),
    [
        ("13:00", False, "2027-06-01T11:00"),
        ("14:01", False, "2027-05-31T12:01"),
        ("14:01", True, "2027-06-01T12:01"),
        ("14:00", True, "2027-06-02T12:00"),
        ("02:00", True, "2027-06-02T00:00"),
    ],
)
def test_a_bare_clock_is_its_last_time_and_ahead_its_next(text: str, ahead: bool, expected: str) -> None:
    assert parse_instant(text, NOW, timezone=BERLIN, ahead=ahead) == utc(expected)


def test_a_local_time_is_shown_with_its_offset() -> None:
    assert local_text(utc("2027-07-01T06:00"), BERLIN) == "Thu 2027-07-01 08:00:00 +02:00"
    assert local_text(utc("2027-01-01T00:00"), "America/St_Johns") == "Thu 2026-12-31 20:30:00 -03:30"
    assert short_text(utc("2027-07-01T06:00"), BERLIN) == "2027-07-01 08:00 +02:00"
    assert short_text(utc("2027-07-01T06:00:05"), BERLIN) == "2027-07-01 08:00:05 +02:00"


def kinds(times: Times, text: str) -> tuple[str, str]:
    found = due(times, parse_moment(text, BERLIN, NOW))
    return found.kind, "; ".join(found.notes)


def test_a_skipped_local_time_is_told_with_what_runs_in_its_place() -> None:
    moved = Times(BERLIN, (NIGHTLY,), (Interval(int(utc("2027-03-28T01:00").timestamp())),))
    kind, note = kinds(moved, "2027-03-28T02:30")
    assert kind == "no_such_time"
    assert "the job runs at Sun 2027-03-28 03:00:00 +02:00 (2027-03-28T01:00:00Z) instead" in note
    shifted = Times(BERLIN, (NIGHTLY,), (Interval(int(utc("2027-03-28T01:30").timestamp())),))
    assert "the job runs at Sun 2027-03-28 03:30:00 +02:00" in kinds(shifted, "2027-03-28T02:30")[1]
    assert "does not run instead" in kinds(Times(BERLIN, (NIGHTLY,)), "2027-03-28T02:30")[1]


def test_of_a_repeated_local_time_the_one_that_runs_is_meant() -> None:
    assert "the job runs both times" in kinds(Times(BERLIN, (NIGHTLY,)), "2027-10-31T02:30")[1]
    second = Times(BERLIN, intervals=(Interval(int(utc("2027-10-31T01:30").timestamp())),))
    found = due(second, parse_moment("2027-10-31T02:30", BERLIN, NOW))
    assert (found.at, found.kind) == (utc("2027-10-31T01:30"), "due")
    assert "the job runs the second time" in found.notes[0]


def test_an_excluded_day_is_told_by_its_calendars_name() -> None:
    from dataclasses import replace

    times = Times(BERLIN, (NIGHTLY,), exclusions=(replace(NEW_YEAR, comment="except holidays"),))
    assert kinds(times, "2028-01-01T02:30") == (
        "excluded",
        "2028-01-01 is excluded by a calendar of the job: except holidays",
    )
    assert kinds(times, "2028-01-01T02:31")[0] == "not_scheduled"
    assert kinds(times, "2028-01-02T02:30")[0] == "due"


def test_the_nearest_times_around_one_that_is_none_are_given() -> None:
    found = due(Times(BERLIN, (NIGHTLY,)), parse_moment("2027-06-02T03:00", BERLIN, NOW))
    assert (found.before, found.after) == (utc("2027-06-02T00:30"), utc("2027-06-03T00:30"))
