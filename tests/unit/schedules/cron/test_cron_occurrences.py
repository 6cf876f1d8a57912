"""The evaluator on the compiled form, which need not come from cron text."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from schedules.cron import between, count_between, next_after, previous_before
from schedules.model import EVERY_HOUR, EVERY_MINUTE, EVERY_SECOND, Calendar, Interval, Range, Times

NOON = (Range(12, 12),)
MIDNIGHT = (Range(0, 0),)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def listed(times: Times, start: str, count: int) -> list[str]:
    found = islice(between(times, at(start), datetime(2100, 12, 31, tzinfo=UTC)), count)
    return [f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in found]


def test_next_and_previous_are_strict() -> None:
    noon = Times("UTC", (Calendar(hour=NOON),))
    assert next_after(noon, at("2027-01-01T12:00Z")) == at("2027-01-02T12:00Z")
    assert previous_before(noon, at("2027-01-02T12:00Z")) == at("2027-01-01T12:00Z")
    assert next_after(noon, at("2027-01-01T11:59:59.999999Z")) == at("2027-01-01T12:00Z")
    assert previous_before(noon, at("2027-01-01T12:00:00.000001Z")) == at("2027-01-01T12:00Z")


def test_results_are_in_utc_whatever_zone_is_asked_in() -> None:
    found = next_after(Times("Europe/Berlin", (Calendar(hour=NOON),)), at("2027-01-01T00:00+09:00"))
    assert found is not None
    assert (found.isoformat(), found.tzinfo) == ("2027-01-01T11:00:00+00:00", UTC)


def test_a_window_holds_its_start_and_not_its_end() -> None:
    hourly = Times("UTC", intervals=(Interval(3600),))
    assert count_between(hourly, at("2027-01-01T00:00Z"), at("2027-01-01T03:00Z")) == 3


def test_a_local_time_is_taken_literally_by_the_evaluator() -> None:
    half_past_two = Times("America/New_York", (Calendar(minute=(Range(30, 30),), hour=(Range(1, 2),)),))
    assert listed(half_past_two, "2027-03-14T05:00Z", 2) == ["2027-03-14T06:30:00Z", "2027-03-15T05:30:00Z"]
    assert listed(half_past_two, "2027-11-07T05:00Z", 3) == [
        "2027-11-07T05:30:00Z",
        "2027-11-07T06:30:00Z",
        "2027-11-07T07:30:00Z",
    ]


def test_a_repeated_local_time_at_the_very_end_of_a_calendar_is_not_lost() -> None:
    year = Calendar(
        minute=(Range(30, 30),),
        hour=(Range(2, 2),),
        day_of_month=(Range(31, 31),),
        month=(Range(10, 10),),
        year=(Range(2027, 2027),),
    )
    assert listed(Times("Europe/Berlin", (year,)), "2027-10-31T00:31Z", 2) == ["2027-10-31T01:30:00Z"]


def test_one_instant_is_an_interval_of_its_unix_time() -> None:
    instant = at("2027-10-31T00:30:00Z")
    once = Times("UTC", intervals=(Interval(int(instant.timestamp())),))
    assert next_after(once, at("2000-01-01T00:00Z")) == instant
    assert next_after(once, instant) == at("2085-08-29T01:00:00Z")  # twice the Unix time


def test_calendars_and_intervals_that_agree_fire_once() -> None:
    both = Times("UTC", (Calendar(hour=NOON), Calendar(hour=(Range(12, 13),))), (Interval(43200),))
    assert listed(both, "2027-01-01T00:00Z", 4) == [
        f"2027-01-{each}:00:00Z" for each in ("01T00", "01T12", "01T13", "02T00")
    ]


def test_start_and_end_are_included() -> None:
    window = Times(
        "UTC", intervals=(Interval(60),), start_at=at("2027-01-01T00:01:00Z"), end_at=at("2027-01-01T00:03:00Z")
    )
    assert listed(window, "2000-01-01T00:00Z", 9) == [f"2027-01-01T00:0{minute}:00Z" for minute in (1, 2, 3)]
    assert previous_before(window, at("2090-01-01T00:00Z")) == at("2027-01-01T00:03:00Z")
    assert previous_before(window, at("2027-01-01T00:01:00Z")) is None


def test_start_and_end_between_two_seconds_leave_the_seconds_inside() -> None:
    window = Times(
        "UTC", intervals=(Interval(1),), start_at=at("2027-01-01T00:00:00.5Z"), end_at=at("2027-01-01T00:00:02.5Z")
    )
    assert listed(window, "2000-01-01T00:00Z", 9) == ["2027-01-01T00:00:01Z", "2027-01-01T00:00:02Z"]


def test_an_exclusion_takes_both_passes_of_a_repeated_local_time() -> None:
    half_hours = Times(
        "Europe/Berlin",
        intervals=(Interval(1800),),
        exclusions=(Calendar(minute=(Range(30, 30),), hour=(Range(2, 2),)),),
    )
    assert listed(half_hours, "2027-10-31T00:00Z", 3) == [
        "2027-10-31T00:00:00Z",
        "2027-10-31T01:00:00Z",
        "2027-10-31T02:00:00Z",
    ]


def test_an_excluded_hour_ends_where_clocks_go_back_within_it() -> None:
    # Chatham goes from 03:45 to 02:45 at 14:00Z on 2027-04-03
    times = Times(
        "Pacific/Chatham",
        intervals=(Interval(900),),
        exclusions=(Calendar(second=EVERY_SECOND, minute=EVERY_MINUTE, hour=(Range(3, 3),)),),
    )
    assert listed(times, "2027-04-03T13:15Z", 2) == ["2027-04-03T14:00:00Z", "2027-04-03T15:15:00Z"]


def test_excluded_days_are_jumped_over() -> None:
    weekdays = Calendar(second=EVERY_SECOND, minute=EVERY_MINUTE, hour=EVERY_HOUR, day_of_week=(Range(1, 5),))
    every_second = Times("UTC", intervals=(Interval(1),), exclusions=(weekdays,))
    assert next_after(every_second, at("2027-01-03T23:59:59Z")) == at("2027-01-09T00:00:00Z")


@pytest.mark.parametrize(
    "never",
    [
        Times("UTC", (Calendar(day_of_month=(Range(30, 30),), month=(Range(2, 2),)),)),
        Times("UTC", (Calendar(year=(Range(2001, 2001),)),)),
        Times("UTC"),
        # every 168 h from a Saturday, and no Saturday: a schedule like this once kept a server busy for ever (BUG-073)
        Times(
            "UTC",
            intervals=(Interval(168 * 3600, 48 * 3600),),
            exclusions=(
                Calendar(second=EVERY_SECOND, minute=EVERY_MINUTE, hour=EVERY_HOUR, day_of_week=(Range(6, 6),)),
            ),
        ),
        Times("UTC", intervals=(Interval(60),), exclusions=(Calendar(minute=EVERY_MINUTE, hour=EVERY_HOUR),)),
        Times(
            "UTC",
            intervals=(Interval(1),),
            exclusions=(Calendar(second=EVERY_SECOND, minute=EVERY_MINUTE, hour=EVERY_HOUR),),
        ),
    ],
)
def test_what_never_fires_is_known_in_no_time(never: Times) -> None:
    begun = time.process_time()
    assert next_after(never, at("2027-01-01T00:00Z")) is None
    assert time.process_time() - begun < 2


def test_a_monday_the_29th_of_february_comes_every_28_years() -> None:
    rare = Times("UTC", (Calendar(day_of_month=(Range(29, 29),), month=(Range(2, 2),), day_of_week=(Range(1, 1),)),))
    assert listed(rare, "2027-01-01T00:00Z", 3) == ["2044-02-29T00:00:00Z", "2072-02-29T00:00:00Z"]
    assert previous_before(rare, at("2044-02-29T00:00Z")) == at("2016-02-29T00:00Z")


def test_the_years_before_2000_and_after_2100_are_no_concern() -> None:
    daily = Times("UTC", (Calendar(hour=MIDNIGHT),))
    assert next_after(daily, at("1970-01-01T00:00Z")) == at("2000-01-01T00:00Z")
    assert previous_before(daily, at("2200-01-01T00:00Z")) == at("2100-12-31T00:00Z")
    assert next_after(daily, at("2100-12-31T00:00Z")) is None
    assert previous_before(daily, at("2000-01-01T00:00Z")) is None


def test_the_order_of_questions_does_not_matter() -> None:
    times = Times("Europe/Berlin", (Calendar(minute=(Range(0, 59, 7),), hour=(Range(0, 23, 5),)),))
    moments = [at("2027-03-27T00:00Z") + timedelta(hours=7 * step) for step in range(40)]
    forwards = {moment: next_after(times, moment) for moment in moments}
    assert {moment: next_after(times, moment) for moment in reversed(moments)} == forwards
