"""Named calendars and business days: compiled times against a walk day by day, and how small they compile."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, product
from random import Random
from typing import Any, Literal

import pytest

from schedules.cron import CronError, Occurrences
from schedules.spec.calendars import CalendarSet, CalendarSpec
from schedules.spec.project import Project
from schedules.times.job import JobTimes, job_times
from schedules.times.next_job import asked_job
from schedules.times.upcoming import upcoming
from tests.factories import job
from tests.oracle.business_days import Office, business_day_runs, cron_runs

NOW = datetime(2027, 5, 1, tzinfo=UTC)
YEARS = range(2027, 2031)
FREEZE = [date(2027, 12, 24), *(date(2027, 12, 27) + timedelta(days=n) for n in range(8)), date(2028, 3, 26)]
QUARTERS = [date(year, month, 1) - timedelta(days=1) for year in range(2026, 2032) for month in (1, 4, 7, 10)]
CALENDARS: dict[str, dict[str, Any]] = {
    "freeze": {"dates": ["2027-12-24", "2027-12-27..2028-01-03", "2028-03-26"]},
    "quarters": {"dates": [f"{day}" for day in QUARTERS]},
    "working": {"weekdays": ["mon", "tue", "wed", "thu", "fri"]},
    "sundays": {"weekdays": ["sun"]},
    "working-unfrozen": {"weekdays": ["mon", "tue", "wed", "thu", "fri"], "except": ["freeze"]},
    "de": {"holidays": "DE", "subdivision": "BE"},
}
SET = CalendarSet("x", {name: CalendarSpec.model_validate(spec) for name, spec in CALENDARS.items()})


def compiled(**fields: Any) -> JobTimes:
    return job_times(job(**fields), "p", NOW, SET)


def easter(year: int) -> date:
    """Gauss's rule, in the form of Lichtenberg."""
    k = year // 100
    m = 15 + (3 * k + 3) // 4 - (8 * k + 13) // 25
    s = 2 - (3 * k + 3) // 4
    a = year % 19
    d = (19 * a + m) % 30
    r = (d + a // 11) // 29
    og = 21 + d - r
    sz = 7 - (year + year // 4 + s) % 7
    return date(year, 3, 1) + timedelta(days=og + 7 - (og - sz) % 7 - 1)


def berlin(day: date) -> bool:
    """Public holidays of Berlin as the law has them (Feiertagsgesetz: 8 March since 2019, 17 June in 2028)."""
    fixed = {(1, 1), (3, 8), (5, 1), (10, 3), (12, 25), (12, 26)}
    moving = {easter(day.year) + timedelta(days=n) for n in (-2, 1, 39, 50)}
    return (day.month, day.day) in fixed or day in moving or day == date(2028, 6, 17)


RULES: dict[str, tuple[dict[str, Any], Office]] = {
    "nothing": ({}, Office(lambda _: True, weekends=False)),
    "freeze": ({"except": ["freeze"]}, Office(lambda day: day not in FREEZE, weekends=False)),
    "sundays": ({"except": ["sundays"]}, Office(lambda day: day.isoweekday() != 7, weekends=False)),
    "working": ({"only": ["working"]}, Office(lambda day: day.isoweekday() < 6, weekends=True)),
    "quarters": ({"only": ["quarters"]}, Office(lambda day: day in QUARTERS, weekends=True)),
    "unfrozen": (
        {"only": ["working-unfrozen"]},
        Office(lambda day: day.isoweekday() < 6 and day not in FREEZE, weekends=True),
    ),
    "berlin": (
        {"only": ["working"], "except": ["de", "freeze"]},
        Office(lambda day: day.isoweekday() < 6 and not berlin(day) and day not in FREEZE, weekends=True),
    ),
    "either": (
        {"only": ["sundays", "quarters"], "except": ["freeze", "de"]},
        Office(
            lambda day: (day.isoweekday() == 7 or day in QUARTERS) and not berlin(day) and day not in FREEZE,
            weekends=True,
        ),
    ),
}
ZONES = ("America/New_York", "Europe/London", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "UTC")
GAPS: tuple[str, ...] = ("run_after", "shift", "skip")
REPEATS: tuple[str, ...] = ("first", "second", "both")
MOVES: tuple[Literal["skip", "next_business_day", "previous_business_day"], ...] = (
    "skip",
    "next_business_day",
    "previous_business_day",
)
EXPRESSIONS = (
    "0 9 15 * *", "30 2 * * *", "30 1 * * 0", "0 0 1 * *", "15,45 0-3 28-31 * *", "0 12 24-31 12 *", "30 2 * 3 6",
    "0 8 * * 1-5", "0 */6 26 * *", "30 23 31 12 *",
)  # fmt: skip


def found(times: JobTimes) -> set[datetime]:
    """What our evaluator says, for the instants of all local years wherever they are sure."""
    return set(Occurrences(times.times).between(datetime(2027, 1, 2, tzinfo=UTC), datetime(2030, 12, 30, tzinfo=UTC)))


def within(runs: set[datetime]) -> set[datetime]:
    return {each for each in runs if datetime(2027, 1, 2, tzinfo=UTC) <= each < datetime(2030, 12, 30, tzinfo=UTC)}


def cases(count: int) -> list[tuple[str, str, str, str, str, str]]:
    everything = list(product(EXPRESSIONS, RULES, MOVES, ZONES, GAPS, REPEATS))
    return Random(3).sample(everything, count)


@pytest.mark.parametrize(("expression", "rule", "move", "zone", "gap", "repeat"), cases(90))
def test_calendars_compile_to_what_a_walk_day_by_day_finds(
    expression: str, rule: str, move: str, zone: str, gap: str, repeat: str
) -> None:
    fields, office = RULES[rule]
    times = compiled(schedule=expression, timezone=zone, dst={"gap": gap, "repeat": repeat}, on_holiday=move, **fields)

    assert found(times) == within(cron_runs(expression, zone, gap, repeat, office, move, YEARS))


@pytest.mark.parametrize("nth", [1, 2, 5, 10, 20, 23, -1, -2, -7, -22])
@pytest.mark.parametrize("rule", RULES)
def test_the_nth_business_day_is_the_one_that_counting_finds(nth: int, rule: str) -> None:
    fields, office = RULES[rule]
    times = compiled(
        schedule={"business_day": nth, "at": "02:30"}, timezone="Europe/Berlin", dst={"gap": "shift"}, **fields
    )

    expected = business_day_runs(nth, time(2, 30), "Europe/Berlin", "shift", "first", office, YEARS)
    assert found(times) == within(expected)


@pytest.mark.parametrize("other", ["0 9 * * *", {"every": "5h"}])
def test_a_run_after_a_gap_is_kept_beside_other_entries(other: Any) -> None:
    """Nuuk's clocks go from Saturday 23:00 to Sunday 00:00 at 01:00Z: the run is Saturday's, on an excluded Sunday."""
    both = compiled(schedule=["30 23 * * *", other], timezone="America/Nuuk", **{"except": ["sundays", "freeze"]})
    saturday = datetime(2028, 3, 26, 1, tzinfo=UTC)
    day = list(Occurrences(both.times).between(saturday, saturday + timedelta(hours=23)))
    assert day == [saturday]


@pytest.mark.parametrize("entry", [{"every": "6h"}, "@every 6h"])
def test_an_interval_beside_another_zone_is_refused_where_days_are_excluded(entry: Any) -> None:
    fields: dict[str, Any] = {"schedule": ["CRON_TZ=Asia/Tokyo 0 9 * * *", entry], "timezone": "UTC"}
    with pytest.raises(CronError, match="the zones Asia/Tokyo and UTC"):
        compiled(**fields, **{"except": ["sundays"]})
    assert compiled(**fields).times.timezone == "Asia/Tokyo"


def test_a_run_after_the_horizon_that_was_moved_from_within_is_there() -> None:
    """31 December 2030 is a Tuesday, the day after it a Wednesday."""
    calendars = CalendarSet("x", {"day": CalendarSpec.model_validate({"dates": ["2030-12-31"]})})
    fields: dict[str, Any] = {"except": ["day"], "on_holiday": "next_business_day"}
    made = job_times(job(schedule="0 9 31 12 *", timezone="UTC", **fields), "p", NOW, calendars).times
    inside = Occurrences(made).between(datetime(2030, 1, 1, tzinfo=UTC), datetime(2031, 12, 31, tzinfo=UTC))
    assert list(inside) == [datetime(2031, 1, 1, 9, tzinfo=UTC)]


def test_a_run_that_was_moved_back_over_the_end_of_the_horizon_is_there_once() -> None:
    """1 January 2031 is a Wednesday, the day before it a Tuesday."""
    calendars = CalendarSet("x", {"day": CalendarSpec.model_validate({"dates": ["2031-01-01"]})})
    fields: dict[str, Any] = {"except": ["day"], "on_holiday": "previous_business_day"}
    made = job_times(job(schedule="0 9 1 1 *", timezone="UTC", **fields), "p", NOW, calendars).times
    inside = Occurrences(made).between(datetime(2030, 6, 1, tzinfo=UTC), datetime(2031, 12, 31, tzinfo=UTC))
    assert list(inside) == [datetime(2030, 12, 31, 9, tzinfo=UTC)]


@pytest.mark.parametrize(("move", "runs"), [("next_business_day", [17]), ("previous_business_day", [14])])
def test_moves_off_weekends_go_on_where_the_next_times_are_asked_for(move: str, runs: list[int]) -> None:
    """15 May 2032 is a Saturday, after a horizon that ends with 2030."""
    spec = job(schedule="0 9 15 5 *", timezone="UTC", only=["working"], on_holiday=move)
    project = Project("p", "default", (spec,), calendars=(replace(SET, jobs=frozenset({spec.name})),))
    after = datetime(2032, 1, 1, tzinfo=UTC)
    times = islice(upcoming(asked_job(project, spec.name).compile_at, NOW), 8)
    assert [each.day for each in times if after < each < datetime(2033, 1, 1, tzinfo=UTC)] == runs


def test_a_run_moved_onto_another_fires_once() -> None:
    """24 and 25 December 2027 are a Friday and a Saturday; both go to Monday 3 January, as 27 December to 3 January is frozen."""
    times = compiled(
        schedule="0 9 24,31 12 *", timezone="UTC", **{"except": ["freeze"]}, on_holiday="next_business_day"
    )

    after = Occurrences(times.times).between(datetime(2027, 12, 1, tzinfo=UTC), datetime(2028, 2, 1, tzinfo=UTC))
    assert list(after) == [datetime(2028, 1, 4, 9, tzinfo=UTC)]


def test_a_run_that_is_moved_to_a_day_on_which_it_runs_anyway_takes_no_room() -> None:
    times = compiled(schedule="0 9 * * *", **{"except": ["freeze"]}, on_holiday="next_business_day").times

    assert len(times.calendars) == 1
    assert times.intervals == ()


def test_saturday_stays_saturday_unless_a_calendar_rules_it_out() -> None:
    """15 May 2027 is a Saturday, and no holiday."""
    day = (datetime(2027, 5, 10, tzinfo=UTC), datetime(2027, 5, 20, tzinfo=UTC))
    plain = compiled(schedule="0 9 15 * *", timezone="UTC", **{"except": ["de"]}, on_holiday="next_business_day")
    working = compiled(schedule="0 9 15 * *", timezone="UTC", only=["working"], on_holiday="next_business_day")

    assert list(Occurrences(plain.times).between(*day)) == [datetime(2027, 5, 15, 9, tzinfo=UTC)]
    assert list(Occurrences(working.times).between(*day)) == [datetime(2027, 5, 17, 9, tzinfo=UTC)]


def test_a_single_time_on_an_excluded_day_is_dropped_or_moved() -> None:
    fields: dict[str, Any] = {"schedule": {"at": "2027-12-24T10:00"}, "timezone": "UTC", "except": ["freeze"]}
    year = (datetime(2027, 12, 1, tzinfo=UTC), datetime(2028, 12, 1, tzinfo=UTC))

    dropped, moved = compiled(**fields), compiled(**fields, on_holiday="previous_business_day")

    assert list(Occurrences(dropped.times).between(*year)) == []
    assert list(Occurrences(moved.times).between(*year)) == [datetime(2027, 12, 23, 10, tzinfo=UTC)]


def test_intervals_keep_away_from_excluded_days_and_are_not_moved() -> None:
    times = compiled(schedule={"every": "6h"}, timezone="UTC", **{"except": ["freeze"]}, on_holiday="next_business_day")

    inside = Occurrences(times.times).between(
        datetime(2027, 12, 23, 19, tzinfo=UTC), datetime(2027, 12, 25, tzinfo=UTC)
    )
    assert list(inside) == []
    assert times.times.calendars == ()


@pytest.mark.parametrize(
    ("fields", "calendars", "exclusions"),
    [
        ({"schedule": "0 8 * * 1-5", "except": ["sundays"]}, 1, 1),
        ({"schedule": {"business_day": 1, "at": "09:00"}}, 2, 0),
        ({"schedule": {"business_day": 1, "at": "09:00"}, "only": ["working"]}, 2, 1),
        ({"schedule": "0 9 15 * *", "only": ["working"], "except": ["freeze"]}, 1, 1),
        ({"schedule": "0 9 25 12 *", "except": ["de"], "on_holiday": "next_business_day"}, 6, 1),
        ({"schedule": "0 9 * * *", "except": ["freeze"]}, 1, 5),
    ],
)
def test_calendars_compile_small(fields: dict[str, Any], calendars: int, exclusions: int) -> None:
    """A bound, not a count to the letter: what is excluded by weekday needs one calendar, moved days a few a year."""
    times = compiled(**fields).times

    assert len(times.calendars) <= calendars
    assert len(times.exclusions) <= exclusions
    assert times.intervals == ()


def test_holidays_and_lists_that_go_on_have_a_horizon_and_weekdays_have_none() -> None:
    new_year = datetime(2031, 1, 1, 5, tzinfo=UTC)

    assert compiled(**{"except": ["de"]}).calendars_until == new_year
    assert compiled(**{"except": ["sundays"]}).calendars_until is None
    assert compiled(**{"except": ["freeze"]}).calendars_until is None
    assert compiled(only=["quarters"], timezone="UTC").calendars_until == datetime(2031, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("schedule", ["0 9 * * *", {"every": "3h"}, ["0 9 * * *", {"every": "3h"}]])
def test_where_no_day_after_the_horizon_is_known_the_schedule_ends(schedule: Any) -> None:
    """A job that runs on listed days alone must not begin to run every day once the list is over."""
    times = compiled(schedule=schedule, timezone="UTC", only=["quarters"]).times

    assert times.end_at == datetime(2030, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert Occurrences(times).next_after(datetime(2030, 12, 31, 22, tzinfo=UTC)) is None


def test_after_the_horizon_business_days_go_on_by_weekday() -> None:
    """1 January 2033 is a Saturday; that its Monday is no holiday is all that can be known."""
    times = compiled(
        schedule={"business_day": 1, "at": "09:00"}, timezone="UTC", only=["working"], **{"except": ["de"]}
    )

    assert Occurrences(times.times).next_after(datetime(2032, 12, 31, tzinfo=UTC)) == datetime(
        2033, 1, 3, 9, tzinfo=UTC
    )


def test_a_spec_with_calendars_compiles_alike_all_year() -> None:
    fields: dict[str, Any] = {"only": ["working"], "except": ["de"], "on_holiday": "next_business_day"}
    spec = job(schedule="0 9 15 * *", **fields)
    first, last = datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 12, 31, 23, tzinfo=UTC)

    assert job_times(spec, "p", first, SET) == job_times(spec, "p", last, SET)


def test_january_knows_the_run_before_it() -> None:
    """31 December 2026 is no holiday in Berlin, 25 December is."""
    times = compiled(schedule="0 9 25-31/6 12 *", timezone="UTC", **{"except": ["de"]}).times

    occurrences = Occurrences(times)
    assert occurrences.previous_before(datetime(2027, 1, 5, tzinfo=UTC)) == datetime(2026, 12, 31, 9, tzinfo=UTC)
