"""How long the server looks back after an outage, and when a run is late; each expected figure is counted by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from schedules.compile.catch_up import SLACK
from schedules.compile.job import compile_job
from tests.factories import NOW, job

HOUR, DAY, YEAR = 3_600, 86_400, 365 * 86_400
HOURLY = {"schedule": "0 * * * *"}
THREE = {"catchup": {"policy": "run_all", "max_missed": 3}}
SKIP = {"catchup": {"policy": "skip"}}
SECONDS = {"schedule": {"cron": "0,5,30 * * * * ?", "dialect": "quartz"}}


def compiled(**fields: Any) -> tuple[int, dict[str, Any]]:
    """The schedule's catch-up window, and what its runs are told."""
    schedule = compile_job(job(**fields), "billing", "production", NOW)
    told: dict[str, Any] = schedule.action.args[0]["catchup"]
    assert told["window"] == schedule.policies.catchup_window
    return schedule.policies.catchup_window, told


@pytest.mark.parametrize("overlap", ["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other"])
@pytest.mark.parametrize("policy", [{}, SKIP])
def test_where_late_runs_start_one_after_another_the_server_looks_back_for_a_year(overlap: str, policy: Any) -> None:
    assert compiled(overlap=overlap, **policy)[0] == YEAR


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        (HOURLY, HOUR),
        ({**HOURLY, **THREE}, 3 * HOUR),
        ({"schedule": {"every": "90m"}, **THREE}, 3 * 90 * 60),
        ({"schedule": {"every": "5s"}}, 5),
        # Weekdays at eight: from Friday to Monday, and an hour more when the clocks go back in between.
        ({}, 3 * DAY + HOUR),
        # Three of them and what follows: Wednesday, Thursday, Friday, Monday; or Friday, Monday, Tuesday, Wednesday.
        (THREE, 5 * DAY + HOUR),
        # In the Berlin winter of 2027 and in every other year the pause from 30 to 0 is the longest.
        (SECONDS, 30),
        # Two pauses and one more: 5 + 25 + 30 is the whole minute, whichever comes first.
        ({**SECONDS, **THREE}, 60),
        # Every minute of office hours: from Friday 17:59 to Monday 09:00, though the first 800 may not show it.
        ({"schedule": "* 9-17 * * 1-5", "timezone": "UTC"}, 2 * DAY + 15 * HOUR + 60),
        # One that is late by less than `late_after` is not missed.
        ({**HOURLY, **SKIP}, 60),
        ({"schedule": {"every": "4s"}, **SKIP}, 2),
    ],
    ids=str,
)
def test_where_all_start_the_server_looks_back_no_further_than_the_wanted_ones_lie(
    fields: dict[str, Any], seconds: int
) -> None:
    assert compiled(overlap="allow_all", **fields)[0] == seconds + SLACK


def test_an_outage_of_seven_days_is_no_flood() -> None:
    """Hourly, three wanted: any three hours and ten seconds hold three full hours, or four within those seconds."""
    window, _ = compiled(**HOURLY, **THREE, overlap="allow_all")
    back = range(0, HOUR, 7)
    held = {sum(1 for hour in range(-7 * 24, 1) if second - window <= hour * HOUR <= second) for second in back}
    assert held == {3, 4}


def test_a_pause_that_the_first_occurrences_do_not_show_counts() -> None:
    """Every second of office hours: 32,400 a day; in 2026 the year begins with a Thursday."""
    spec = job(schedule={"cron": "* * 9-17 ? * MON-FRI", "dialect": "quartz"}, timezone="UTC", overlap="allow_all")
    for year in (2026, 2027):
        window = compile_job(spec, "b", "p", NOW.replace(year=year)).policies.catchup_window
        assert window == 2 * DAY + 15 * HOUR + 1 + SLACK


def test_what_happens_once_or_never_again_is_caught_up_for_a_year() -> None:
    assert compiled(schedule={"at": "2027-06-01T09:00"}, overlap="allow_all")[0] == YEAR


def test_jitter_makes_the_window_longer_and_no_run_late() -> None:
    window, told = compiled(**HOURLY, overlap="allow_all", jitter="5m")
    assert window == HOUR + 300 + SLACK
    assert (told["late_after"], told["jitter"]) == (360, 300)


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ({}, 60),
        ({"schedule": {"every": "90s"}}, 45),
        ({"schedule": {"every": "1s"}}, 1),
        (SECONDS, 2.5),
        ({"schedule": ["0 9 * * *", "1 9 * * *"]}, 30),
        ({"schedule": {"at": "2027-06-01T09:00"}}, 60),
        ({"start_deadline": "20s"}, 20),
        ({"start_deadline": "2h"}, 60),
        ({"start_deadline": "20s", "jitter": "15s"}, 20),
        ({"start_deadline": "2h", "jitter": "15s"}, 75),
    ],
    ids=str,
)
def test_a_run_is_late_after_a_minute_or_half_of_the_shortest_distance(fields: Any, seconds: float) -> None:
    assert compiled(**fields)[1]["late_after"] == seconds


def test_the_rule_of_the_spec_reaches_the_run() -> None:
    told = compiled(**THREE, overlap="buffer_all", start_deadline="2h", schedule="0 8 1 * * ", dst={"gap": "skip"})[1]
    assert (told["policy"], told["max_missed"], told["overlap"]) == ("run_all", 3, "buffer_all")
    assert told["start_deadline"] == timedelta(hours=2).total_seconds()


def test_after_the_end_of_a_schedule_nothing_counts_as_missed() -> None:
    told = compiled(schedule={"cron": "0 0 9 1 6 ? 2027", "dialect": "quartz"}, timezone="UTC")[1]
    assert told["end_at"] == "2027-12-31T23:59:59Z"
