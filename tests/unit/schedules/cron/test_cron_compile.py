"""The compiled form: as few calendars as can be, single instants where clocks change, and the same all year long."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest

from schedules.cron import Compiled, CronError, Gap, Occurrences, Repeat, compile_at, compile_cron, compile_every
from schedules.cron.local import MOST_INSTANTS
from schedules.model import Calendar, Interval, Range, Times
from schedules.times.horizon import horizon
from tests.oracle.random_jobs import ZONES

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
LATER = datetime(2029, 11, 29, tzinfo=UTC)


def compiled(
    text: str,
    timezone: str = "UTC",
    dialect: str = "cron",
    gap: Gap = "run_after",
    repeat: Repeat = "first",
    hash_key: str = "",
    start: datetime = NOW,
    end: datetime = LATER,
    excluded: frozenset[date] = frozenset(),
) -> Compiled:
    return compile_cron(
        text,
        timezone=timezone,
        dialect=dialect,
        gap=gap,
        repeat=repeat,
        hash_key=hash_key,
        horizon_start=start,
        horizon_end=end,
        excluded_days=excluded,
    )


def times(made: Compiled) -> Times:
    return Times(made.timezone, made.calendars, made.intervals, made.exclusions, end_at=made.end_at)


def first(made: Compiled, start: str, count: int) -> list[str]:
    found = Occurrences(times(made)).between(datetime.fromisoformat(start), datetime(2099, 1, 1, tzinfo=UTC))
    return [f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in islice(found, count)]


def unix(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def test_a_morning_job_in_new_york_is_one_calendar() -> None:
    assert compiled("0 8 * * 1-5", "America/New_York") == Compiled(
        "America/New_York",
        (Calendar(minute=(Range(0, 0),), hour=(Range(8, 8),), day_of_week=(Range(1, 5),), comment="0 8 * * 1-5"),),
    )


@pytest.mark.parametrize(
    ("text", "timezone"),
    [
        ("0 2 * * 1-5", "Europe/Berlin"),  # clocks change on Sundays
        ("30 2 * 6 *", "Europe/Berlin"),  # and not in June
        ("30 2 1-20 * *", "Europe/Berlin"),  # and not before the 25th
        ("*/15 * * * *", "Asia/Kolkata"),  # and not at all in Kolkata
        ("0 9 * * 1", "America/Havana"),
        ("*/5 8-18 * * *", "Australia/Lord_Howe"),
    ],
)
def test_what_no_change_of_clocks_meets_is_not_split(text: str, timezone: str) -> None:
    made = compiled(text, timezone)
    assert (len(made.calendars), made.intervals, made.exact_until) == (1, (), None)


@pytest.mark.parametrize(
    ("text", "timezone", "intervals"),
    [
        ("* * * * *", "Europe/Berlin", (Interval(60),)),
        ("0 * * * *", "Europe/Berlin", (Interval(3600),)),
        ("*/15 * * * *", "America/New_York", (Interval(900),)),
        ("5,35 * * * *", "Europe/London", (Interval(1800, 300),)),
        ("0,10 * * * *", "Europe/London", (Interval(3600, 0), Interval(3600, 600))),
        ("*/30 * * * *", "Australia/Lord_Howe", (Interval(1800),)),  # half an hour of summer time
        ("0 * * * *", "Pacific/Chatham", (Interval(3600, 900),)),  # 12:45 and 13:45 ahead
    ],
)
def test_a_job_of_every_hour_is_an_interval(text: str, timezone: str, intervals: tuple[Interval, ...]) -> None:
    assert compiled(text, timezone) == Compiled(timezone, intervals=intervals)


def test_an_hourly_job_on_lord_howe_shifts_against_utc_and_is_split() -> None:
    made = compiled("0 * * * *", "Australia/Lord_Howe")
    assert made.calendars
    assert first(made, "2027-04-03T13:30Z", 3) == [
        "2027-04-03T14:00:00Z",  # 01:00+11:00
        "2027-04-03T15:30:00Z",  # 02:00+10:30; 02:00+11:00 was never reached
        "2027-04-03T16:30:00Z",
    ]


@pytest.mark.parametrize(
    ("gap", "instants"),
    [
        ("run_after", ["2026-03-29T01:00Z", "2027-03-28T01:00Z", "2028-03-26T01:00Z", "2029-03-25T01:00Z"]),
        ("shift", ["2026-03-29T01:30Z", "2027-03-28T01:30Z", "2028-03-26T01:30Z", "2029-03-25T01:30Z"]),
        ("skip", []),
    ],
)
def test_half_past_two_in_berlin_becomes_one_instant_each_spring(gap: Gap, instants: list[str]) -> None:
    made = compiled("30 2 * 1-6 *", "Europe/Berlin", gap=gap)
    assert made.intervals == tuple(Interval(unix(each)) for each in instants)


def test_a_gap_of_half_an_hour_is_met_too() -> None:
    made = compiled("15 2 * * *", "Australia/Lord_Howe")  # 2027-10-03: 02:00+10:30 becomes 02:30+11:00 at 15:30Z
    assert first(made, "2027-10-02T00:00Z", 2) == ["2027-10-02T15:30:00Z", "2027-10-03T15:15:00Z"]


def test_no_calendar_names_a_night_on_which_clocks_go_back_nor_the_hour_before() -> None:
    made = compiled("30 1,2 * 10 *", "Europe/Berlin", repeat="both")
    found = Occurrences(Times(made.timezone, made.calendars))
    night = datetime(2027, 10, 30, 22, tzinfo=UTC)
    assert list(found.between(night, night + timedelta(hours=6))) == []
    instants = [unix(f"2027-10-{each}:30Z") for each in ("30T23", "31T00", "31T01")]
    assert [
        each.every for each in made.intervals if night.timestamp() < each.every < night.timestamp() + 21600
    ] == instants


def test_a_sunday_without_midnight_is_given_by_its_instants() -> None:
    """The server takes its weekday from the midnight that is missing, so that no calendar may name it by weekday."""
    made = compiled("0 12 * * 0", "America/Havana", start=datetime(2027, 1, 1, 12, tzinfo=UTC))
    assert (len(made.calendars), made.intervals) == (
        3,
        tuple(Interval(unix(f"{day}T16:00Z")) for day in ("2027-03-14", "2028-03-12", "2029-03-11")),
    )
    assert first(made, "2027-03-08T00:00Z", 2) == ["2027-03-14T16:00:00Z", "2027-03-21T16:00:00Z"]


def test_many_times_on_a_day_without_midnight_are_given_by_its_date() -> None:
    made = compiled("* * 10 * 0-2", "Atlantic/Azores", "kubernetes")
    assert len(made.intervals) <= MOST_INSTANTS
    assert made.exact_until == datetime(2030, 1, 1, 1, tzinfo=UTC)
    assert first(made, "2027-03-28T00:58Z", 3) == [f"2027-03-28T{each}:00Z" for each in ("01:00", "01:01", "01:02")]


def test_two_readings_of_one_instant_fire_once() -> None:
    made = compiled("30 2,3 * * *", "America/New_York", gap="shift")  # 02:30 moves onto 03:30
    assert first(made, "2027-03-14T05:00Z", 2) == ["2027-03-14T07:30:00Z", "2027-03-15T06:30:00Z"]


def test_the_compiled_form_is_the_same_all_year_long() -> None:
    dates = [datetime(2027, month, 3, 4, 5, 6, tzinfo=UTC) for month in (1, 5, 12)]
    made = {compiled("30 2 * * *", "Europe/Berlin", start=each, end=each + timedelta(days=3 * 365)) for each in dates}
    assert len(made) == 1


def test_the_end_of_exactness_is_told_where_clocks_matter() -> None:
    assert compiled("30 2 * * *", "Europe/Berlin").exact_until == datetime(2029, 12, 31, 23, tzinfo=UTC)
    assert compiled("30 3 * * *", "Europe/Berlin").exact_until is None


def test_beyond_the_horizon_a_change_of_clocks_is_taken_literally() -> None:
    made = compiled("30 2 * * *", "America/New_York")
    assert first(made, "2031-03-09T00:00Z", 1) == ["2031-03-10T06:30:00Z"]  # the 9th has no 02:30
    made = compiled("30 1-9 * * *", "America/New_York")
    assert first(made, "2032-11-07T05:00Z", 3) == [f"2032-11-07T0{hour}:30:00Z" for hour in (5, 6, 7)]  # 01:30 twice


@pytest.mark.parametrize(
    ("text", "timezone", "most"),
    [
        ("30 2 * * *", "America/New_York", 4),
        ("0 0 * * *", "Europe/London", 4),
        ("0 0 L * *", "UTC", 4),
        ("0 0 * * 5L", "UTC", 4),
        ("0 0 15W * *", "UTC", 3),
        ("0 0 LW * *", "UTC", 8),
        ("0 0 * * 1#1", "UTC", 1),
        ("0 0 13 * 5", "UTC", 2),
        ("0 0 29 2 *", "UTC", 1),
        ("*/10 * * * 0", "Europe/Berlin", 6),
        ("30 1-3 * * *", "Africa/Casablanca", 16),
    ],
)
def test_the_compiled_form_stays_small(text: str, timezone: str, most: int) -> None:
    made = compiled(text, timezone, repeat="both")
    assert len(made.calendars) <= most
    assert len(made.intervals) <= MOST_INSTANTS
    assert all(len(each.comment) <= 200 for each in made.calendars)


@pytest.mark.parametrize("timezone", ZONES)
@pytest.mark.parametrize("text", ["0-59 0-23 * * *", "*/1 * * * 1-7", "0-59 0-23 * * 0"])
def test_five_fields_are_exact_for_three_years_in_every_zone(text: str, timezone: str) -> None:
    """The most that five fields can ask for; the last day of a year has the least of it left."""
    now = datetime(2027, 12, 31, 12, tzinfo=UTC)
    made = compiled(text, timezone, gap="shift", repeat="both", start=horizon(now)[0], end=horizon(now)[1])
    assert not made.left_out
    assert made.exact_until is None or made.exact_until >= datetime(2030, 12, 31, 9, tzinfo=UTC)


def test_nights_of_too_many_instants_are_left_out_and_named() -> None:
    """From 02:00 to 02:59 each second: one run after the gap on 28 March 2027, and none of the 3,600 on 31 October."""
    made = compiled("0-59 0-59 2 * * ?", "Europe/Berlin", "quartz", start=datetime(2027, 1, 1, 12, tzinfo=UTC))
    found = Occurrences(times(made))
    assert made.left_out == (date(2027, 10, 31), date(2028, 10, 29), date(2029, 10, 28))
    assert made.exact_until == datetime(2029, 12, 31, 23, tzinfo=UTC)
    march, october = datetime(2027, 3, 28, tzinfo=UTC), datetime(2027, 10, 31, tzinfo=UTC)
    assert list(found.between(march, march + timedelta(hours=12))) == [march + timedelta(hours=1)]
    assert found.count_between(october, october + timedelta(hours=12)) == 0
    assert found.count_between(october + timedelta(hours=12), october + timedelta(hours=36)) == 3600


def test_nights_that_fit_are_given_though_others_are_left_out() -> None:
    """Lord Howe repeats half an hour: 01:30 to 02:00, and the hour before is in doubt too."""
    made = compiled("0-59 30 1,2 * * ?", "Europe/Berlin", "quartz", repeat="both")
    assert not made.left_out
    assert len(made.intervals) == 4 * (1 + 60 * 3)


def test_a_long_expression_has_a_short_comment() -> None:
    made = compiled(
        f"{','.join(str(minute) for minute in range(0, 60, 2))} {','.join(map(str, range(24)))} {','.join(map(str, range(1, 32)))} * *"
    )
    assert [len(each.comment) for each in made.calendars] == [200]


def test_excluded_days_are_exclusions_and_take_their_instants_along() -> None:
    sunday, christmas = date(2027, 3, 28), date(2027, 12, 25)
    made = compiled("30 2 * * *", "Europe/Berlin", excluded=frozenset({sunday, christmas}))
    assert unix("2027-03-28T01:00Z") not in {each.every for each in made.intervals}
    assert first(made, "2027-03-27T00:00Z", 2) == ["2027-03-27T01:30:00Z", "2027-03-29T00:30:00Z"]
    assert first(made, "2027-12-25T00:00Z", 1) == ["2027-12-26T01:30:00Z"]


@pytest.mark.parametrize(("gap", "run"), [("run_after", "28T01:00"), ("shift", "28T01:30")])
def test_a_run_after_a_gap_stays_though_the_day_on_which_the_gap_ends_is_excluded(gap: Gap, run: str) -> None:
    """Nuuk goes from Saturday 23:00-02 to Easter Sunday 00:00-01 at 01:00Z: Saturday's run counts as Saturday's."""
    sunday = date(2027, 3, 28)
    made = compiled("30 23 * * *", "America/Nuuk", gap=gap, excluded=frozenset({sunday}))
    assert first(made, "2027-03-27T12:00Z", 2) == [f"2027-03-{run}:00Z", "2027-03-30T00:30:00Z"]
    weekly = compiled("30 23 * * *", "America/Nuuk", gap=gap, excluded=WEEKENDS - {date(2027, 3, 27)})
    assert first(weekly, "2027-03-27T12:00Z", 2) == [f"2027-03-{run}:00Z", "2027-03-30T00:30:00Z"]


WEEKENDS = frozenset(
    day for day in (date(2026, 1, 1) + timedelta(days=number) for number in range(4 * 366)) if day.isoweekday() > 5
)


def test_weekdays_that_are_always_excluded_are_left_out_of_calendars() -> None:
    made = compiled("0 9 * * *", excluded=WEEKENDS)
    assert [each.day_of_week for each in made.calendars] == [(Range(1, 5),)]
    assert made.exclusions == ()


def test_weekdays_that_are_always_excluded_are_one_exclusion_of_an_interval() -> None:
    made = compiled("@every 1h", excluded=WEEKENDS)
    assert made == compile_every(3600, excluded_days=WEEKENDS)
    assert [each.day_of_week for each in made.exclusions] == [(Range(0, 0), Range(6, 6))]


@pytest.mark.parametrize("text", ["0 0 * * SAT", "@every 168h/48h"])
def test_a_job_of_which_exclusions_leave_nothing_compiles_to_nothing(text: str) -> None:
    """The server would go through every excluded time up to the year 2100 at each step."""
    made = compiled(text, excluded=WEEKENDS)
    assert (made.calendars, made.intervals, made.exclusions) == ((), (), ())


def test_an_hourly_interval_keeps_off_excluded_days() -> None:
    made = compiled("0 * * * *", "Europe/Berlin", excluded=frozenset({date(2027, 1, 1)}))
    assert first(made, "2026-12-31T22:00Z", 2) == ["2026-12-31T22:00:00Z", "2027-01-01T23:00:00Z"]


def test_a_year_field_ends_the_schedule() -> None:
    made = compiled("29 5 2 23 2 ? 2027", "Africa/Casablanca", "quartz")
    assert made.end_at == datetime(2027, 12, 31, 22, 59, 59, tzinfo=UTC)
    assert first(made, "2027-01-01T00:00Z", 2) == ["2027-02-23T02:05:29Z"]  # Ramadan: clocks are at UTC


def test_years_that_no_server_knows_leave_nothing() -> None:
    assert first(compiled("0 0 0 1 1 ? 1999", dialect="quartz"), "2000-01-01T00:00Z", 1) == []


def test_a_year_without_the_wanted_february_leaves_that_out() -> None:
    made = compiled("0 0 0 28W 2 ? 2027", dialect="quartz")  # 28 February 2027 is a Sunday, the last day of the month
    assert first(made, "2020-01-01T00:00Z", 3) == ["2027-02-26T00:00:00Z"]


def test_a_prefix_names_the_zone() -> None:
    for prefix in ("CRON_TZ", "TZ"):
        made = compiled(f"{prefix}=Asia/Tokyo 5 0 * * *", "Europe/Berlin")
        assert made.timezone == "Asia/Tokyo"
        assert first(made, "2027-03-01T00:00Z", 1) == ["2027-03-01T15:05:00Z"]


def test_every_counts_from_the_epoch() -> None:
    assert compile_every(300, 30).intervals == (Interval(300, 30),)
    assert compiled("@every 1h30m").intervals == (Interval(5400),)
    assert compiled("@every 14h/3h", dialect="temporal").intervals == (Interval(50400, 10800),)
    assert compiled("@every 1.5h").intervals == (Interval(5400),)
    assert compiled("rate(7 days)", dialect="eventbridge").intervals == (Interval(7 * 86400),)


def test_a_daily_interval_counted_from_noon_never_has_its_next_time_in_the_past() -> None:
    made = compile_every(1440 * 60, 12 * 3600)  # BUG-055
    assert first(made, "2019-09-18T12:05Z", 1) == ["2019-09-19T12:00:00Z"]


@pytest.mark.parametrize(("every", "offset"), [(0, 0), (-5, 0), (60, 60), (60, -1), (10**12, 0)])
def test_an_impossible_interval_is_refused(every: int, offset: int) -> None:
    with pytest.raises(CronError):
        compile_every(every, offset)


def test_one_time_is_one_calendar() -> None:
    made = compile_at(datetime(2027, 3, 1, 9), timezone="America/New_York")  # noqa: DTZ001  a local time
    assert made.calendars == (
        Calendar(
            minute=(Range(0, 0),),
            hour=(Range(9, 9),),
            day_of_month=(Range(1, 1),),
            month=(Range(3, 3),),
            year=(Range(2027, 2027),),
            comment="once at 2027-03-01T09:00:00",
        ),
    )
    assert first(made, "2000-01-02T00:00Z", 2) == ["2027-03-01T14:00:00Z"]


def test_one_time_that_does_not_exist_is_refused_with_the_one_an_hour_later() -> None:
    with pytest.raises(CronError, match=r"does not exist.*2027-03-14T03:30:00"):
        compile_at(datetime(2027, 3, 14, 2, 30), timezone="America/New_York")  # noqa: DTZ001


@pytest.mark.parametrize(
    ("repeat", "expected"),
    [
        ("first", ["2027-11-07T05:30:00Z"]),
        ("second", ["2027-11-07T06:30:00Z"]),
        ("both", ["2027-11-07T05:30:00Z", "2027-11-07T06:30:00Z"]),
    ],
)
def test_one_time_that_happens_twice_runs_as_asked(repeat: Repeat, expected: list[str]) -> None:
    made = compile_at(datetime(2027, 11, 7, 1, 30), timezone="America/New_York", repeat=repeat)  # noqa: DTZ001
    assert first(made, "2027-01-01T00:00Z", 3) == expected
    assert made.calendars == ()  # the server would misread that hour


def test_one_time_with_an_offset_is_that_instant() -> None:
    made = compile_at(datetime.fromisoformat("2027-11-07T01:30:00-05:00"), timezone="America/New_York")
    assert first(made, "2027-01-01T00:00Z", 3) == ["2027-11-07T06:30:00Z"]


def test_one_time_on_an_excluded_day_does_not_run() -> None:
    made = compile_at(datetime(2027, 3, 1, 9), timezone="UTC", excluded_days=frozenset({date(2027, 3, 1)}))  # noqa: DTZ001
    assert (made.calendars, made.intervals) == ((), ())


def test_at_of_eventbridge_is_a_local_time() -> None:
    made = compiled("at(2027-03-01T09:00:00)", "Europe/Berlin", "eventbridge")
    assert first(made, "2027-01-01T00:00Z", 2) == ["2027-03-01T08:00:00Z"]


def test_hashed_values_stay_with_the_job_and_spread_over_the_hour() -> None:
    def minute(key: str) -> int:
        return compiled("H * * * *", hash_key=key).calendars[0].minute[0].start

    assert minute("billing/invoices") == minute("billing/invoices")
    assert len({minute(f"billing/job-{number}") for number in range(300)}) > 50


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("H(10-19) * * * *", 10, 19),
        ("10~19 * * * *", 10, 19),
        ("H/15 * * * *", 0, 14),
        ("~ 3 * * *", 0, 59),
        ("H(30-59)/10 * * * *", 30, 39),
    ],
)
def test_hashed_values_stay_within_their_bounds(text: str, low: int, high: int) -> None:
    starts = {compiled(text, hash_key=f"job-{number}").calendars[0].minute[0].start for number in range(200)}
    assert min(starts) >= low
    assert max(starts) <= high
    assert len(starts) > (high - low) // 2


def test_a_hashed_hour_does_not_follow_the_minute() -> None:
    made = [compiled("H H * * *", hash_key=f"job-{number}").calendars[0] for number in range(200)]
    assert len({(each.hour[0].start - each.minute[0].start) % 24 for each in made}) > 12


def test_a_hashed_day_exists_in_every_month() -> None:
    days = {compiled("0 0 H * *", hash_key=f"job-{number}").calendars[0].day_of_month[0].start for number in range(300)}
    assert days == set(range(1, 29))


def test_a_hashed_step_keeps_its_distance() -> None:
    minutes = compiled("H/20 * * * *", hash_key="a").calendars[0].minute
    assert minutes[0].step == 20
    assert minutes[0].end == minutes[0].start + 40


def test_a_horizon_that_no_server_knows_is_refused() -> None:
    with pytest.raises(CronError, match="horizon"):
        compiled("0 0 * * *", start=NOW, end=datetime(2150, 1, 1, tzinfo=UTC))
    with pytest.raises(CronError, match="horizon"):
        compiled("0 0 * * *", start=LATER, end=NOW)
