"""The next times: exact beyond the horizon, and what clock changes did told beside them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import pytest

from schedules.errors import SettingsError
from schedules.spec.project import Project
from schedules.times.asked import Asked, asked_expression
from schedules.times.next_job import asked_job
from schedules.times.upcoming import upcoming
from schedules.views.next import next_text
from tests.factories import job

if TYPE_CHECKING:
    from schedules.cron import Gap, Repeat

NOW = datetime(2027, 3, 1, tzinfo=UTC)


def asked(
    expression: str, *, zone: str = "America/New_York", gap: Gap = "run_after", repeat: Repeat = "first"
) -> Asked:
    return asked_expression(expression, dialect="cron", timezone=zone, gap=gap, repeat=repeat, now=NOW)


def shown(question: Asked, start: str, count: int) -> list[str]:
    """The lines of the table without its head."""
    after = datetime.fromisoformat(start)
    return next_text(question, list(islice(upcoming(question.compile_at, after), count)), after).splitlines()[2:]


def test_a_time_that_does_not_exist_is_told_where_it_runs() -> None:
    assert shown(asked("30 2 * * *"), "2027-03-13T12:00Z", 2) == [
        "Sun 2027-03-14 03:00:00  2027-03-14T07:00:00Z  -04:00  02:30 does not exist, runs 03:00",
        "Mon 2027-03-15 02:30:00  2027-03-15T06:30:00Z  -04:00",
    ]


def test_shifted_times_are_told_one_by_one() -> None:
    assert shown(asked("15,45 2 * * *", gap="shift"), "2027-03-13T12:00Z", 2) == [
        "Sun 2027-03-14 03:15:00  2027-03-14T07:15:00Z  -04:00  02:15 does not exist, runs 03:15",
        "Sun 2027-03-14 03:45:00  2027-03-14T07:45:00Z  -04:00  02:45 does not exist, runs 03:45",
    ]


def test_a_time_that_is_skipped_has_a_line_without_a_run() -> None:
    assert shown(asked("30 2 * * *", gap="skip"), "2027-03-13T01:00Z", 2) == [
        "Sat 2027-03-13 02:30:00  2027-03-13T07:30:00Z  -05:00",
        "Sun 2027-03-14                                         02:30 does not exist, no run",
        "Mon 2027-03-15 02:30:00  2027-03-15T06:30:00Z  -04:00",
    ]


@pytest.mark.parametrize(
    ("repeat", "lines"),
    [
        ("first", ["Sun 2027-11-07 01:30:00  2027-11-07T05:30:00Z  -04:00  01:30 happens twice, runs the first time"]),
        (
            "second",
            ["Sun 2027-11-07 01:30:00  2027-11-07T06:30:00Z  -05:00  01:30 happens twice, runs the second time"],
        ),
        (
            "both",
            [
                "Sun 2027-11-07 01:30:00  2027-11-07T05:30:00Z  -04:00  01:30 happens twice, this is the first time",
                "Sun 2027-11-07 01:30:00  2027-11-07T06:30:00Z  -05:00  01:30 happens twice, this is the second time",
            ],
        ),
    ],
)
def test_a_time_that_happens_twice_is_told_with_its_pass(repeat: Repeat, lines: list[str]) -> None:
    assert shown(asked("30 1 * * *", repeat=repeat), "2027-11-06T12:00Z", len(lines)) == lines


def test_the_title_says_the_expression_in_words() -> None:
    assert next_text(asked("0 0 13 * 5"), [NOW], NOW).splitlines()[0] == (
        "0 0 13 * 5 in America/New_York: at 00:00, on day 13 of the month or on Friday"
    )


def test_what_never_fires_says_so() -> None:
    assert next_text(asked("0 0 30 2 *"), [], NOW).splitlines()[1] == "no time after 2027-03-01T00:00:00+00:00"


def test_a_hashed_expression_is_told_to_be_nobodys() -> None:
    assert "H and ~ depend on project and job" in next_text(asked("H 3 * * *"), [NOW], NOW)
    assert "H and ~" not in next_text(asked("0 3 * MARCH-APR THU".replace("MARCH", "MAR")), [NOW], NOW)


def test_clock_changes_are_exact_beyond_the_horizon() -> None:
    """20 years on, New York's rules still skip 02:30 on the second Sunday of March, and run_after makes it 03:00."""
    after = datetime(2047, 3, 9, 12, tzinfo=UTC)
    assert next(upcoming(asked("30 2 * * *").compile_at, after)) == datetime(2047, 3, 10, 7, tzinfo=UTC)

    far = upcoming(asked("30 2 10 3 *").compile_at, NOW)
    assert list(islice(far, 21))[-1] == datetime(2047, 3, 10, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    "expression", ["* * * * *", "30 2 * * *", "0 0 29 2 1", "0 0 30 2 *", "@every 7m", "*/5 1-3 * * *"]
)
def test_times_strictly_increase_to_the_end_of_what_the_server_knows(expression: str) -> None:
    question = asked(expression, zone="Europe/Dublin")
    times = list(islice(upcoming(question.compile_at, datetime(2094, 1, 1, tzinfo=UTC)), 3000))

    assert all(before < after for before, after in pairwise(times))


def test_six_fields_are_told_with_what_they_could_mean_from_now_on() -> None:
    with pytest.raises(SettingsError, match=r"seconds first: next at 2027-03-01T17:00:00Z") as caught:
        asked("0 0 12 * * ?")

    assert caught.value.exit_code == 2


def test_a_fault_is_pointed_at() -> None:
    with pytest.raises(SettingsError) as caught:
        asked("0 25 * * *")

    assert str(caught.value).splitlines()[1:] == ["    0 25 * * *", "      ^"]


def test_a_job_answers_by_its_own_zone_and_policy() -> None:
    project = Project("p", "default", (job("a", schedule="30 2 * * *", dst={"gap": "shift"}),))

    first = next(upcoming(asked_job(project, "a").compile_at, datetime(2027, 3, 13, 12, tzinfo=UTC)))

    assert first == datetime(2027, 3, 14, 7, 30, tzinfo=UTC)
    with pytest.raises(SettingsError, match="known jobs: a"):
        asked_job(project, "zzz")


def test_a_job_with_jitter_says_by_how_much_later_each_may_start() -> None:
    question = asked_job(Project("p", "default", (job("a", schedule="30 2 * * *", jitter="12h"),)), "a")
    shown = next_text(question, [datetime(2027, 3, 2, 7, 30, tzinfo=UTC)], NOW)
    assert shown.splitlines()[-1] == "each may start up to 12h later (jitter)"


def test_after_is_not_included() -> None:
    eight = datetime(2027, 3, 2, 13, tzinfo=UTC)

    assert next(upcoming(asked("0 8 * * *").compile_at, eight)) == eight + timedelta(days=1)


DENSE = "0-59 0-59 2 * * ?"


def test_nights_that_are_left_out_are_told() -> None:
    question = asked_expression(
        DENSE, dialect="quartz", timezone="Europe/Berlin", gap="run_after", repeat="first", now=NOW
    )
    assert "on 2027-10-31 it does not run in the hours concerned" in next_text(question, [NOW], NOW)
    assert "does not run" not in next_text(asked("30 2 * * *"), [NOW], NOW)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("2000-03-25T12:00Z", "2000-03-26T01:00"),  # 02:30 in Berlin does not exist on the last Sunday of March
        ("2000-01-01T00:00Z", "2000-01-01T01:30"),
        ("2097-06-01T00:00Z", "2097-06-01T00:30"),
        ("2100-06-01T00:00Z", "2100-06-01T00:30"),
    ],
)
def test_all_years_of_the_server_can_be_asked_for(start: str, expected: str) -> None:
    after = datetime.fromisoformat(start)
    project = Project("p", "default", (job("a", schedule="30 2 * * *", timezone="Europe/Berlin"),))
    for question in (asked("30 2 * * *", zone="Europe/Berlin"), asked_job(project, "a")):
        times = list(islice(upcoming(question.compile_at, after), 3))
        assert times[0] == datetime.fromisoformat(f"{expected}Z")
        assert next_text(question, times, after)
