"""`@reboot`: no times, a mark for workers, and no findings about either."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schedules.compile.job import compile_job
from schedules.cron import CronError, Occurrences
from schedules.cron.notation.parse import parse
from schedules.lint.reading import reading_findings
from schedules.lint.times import never_fires, times_findings
from schedules.plan.consequences import consequences
from schedules.times.job import job_times
from tests.factories import job

NOW = datetime(2027, 3, 1, tzinfo=UTC)


def test_the_mark_is_among_the_first_calendars_of_many_since_lists_show_ten() -> None:
    many = [f"{minute} {hour} * * *" for hour, minute in enumerate(range(3, 14))]
    calendars = job_times(job(schedule=[*many, "@reboot"]), "billing", NOW).times.calendars
    assert calendars[0].comment.startswith("@reboot")
    assert len(calendars) > 10


def test_other_times_of_the_job_stay_as_they_are() -> None:
    times = job_times(job(schedule=["@reboot", "0 8 * * *"], timezone="UTC"), "billing", NOW).times
    assert Occurrences(times).next_after(NOW) == datetime(2027, 3, 1, 8, tzinfo=UTC)
    assert Occurrences(times).next_after(datetime(2099, 12, 30, 9, tzinfo=UTC)) == datetime(2099, 12, 31, 8, tzinfo=UTC)


@pytest.mark.parametrize("schedule", ["@reboot", "@Reboot", ["@reboot", "0 8 * * *"]])
def test_lint_finds_nothing_in_it(schedule: str | list[str]) -> None:
    given = job(schedule=schedule)
    found = job_times(given, "billing", NOW)
    assert not [
        *never_fires(given, found),
        *times_findings(given, found, NOW),
        *reading_findings(given, found, "billing", NOW),
    ]


def test_the_plan_says_who_starts_it() -> None:
    follows = consequences(compile_job(job(schedule="@reboot"), "billing", "default", NOW), None, frozenset(), NOW)
    assert follows.after == ()
    assert follows.notes == ("it runs once for each new build of the workers",)


@pytest.mark.parametrize(
    ("text", "dialect"), [("@reboot", "kubernetes"), ("@reboot", "spring"), ("@reboot 5m", "cron")]
)
def test_elsewhere_and_with_more_words_it_is_refused(text: str, dialect: str) -> None:
    with pytest.raises(CronError, match="@reboot is a name of dialect cron alone"):
        parse(text, dialect)
