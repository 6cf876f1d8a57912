"""Calendars of jobs written in Python: they come with the JobSet, and are checked as those of a file are."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from schedules.compile.job import compile_project
from schedules.cron import next_after
from schedules.source.load import SpecError, load_project

if TYPE_CHECKING:
    from pathlib import Path

MODULE = """\
from datetime import timedelta
from schedules.spec import CalendarSpec
from schedules.project import JobSet
from schedules.spec import JobSpec

job = JobSpec.model_validate({{
    "name": "report", "schedule": "0 8 * * *", "timezone": "UTC", "timeout": "5m",
    "run": {{"command": ["true"]}}, "except": ["{used}"],
}})
jobs = JobSet("shop", [job], calendars={calendars})
"""


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return f"{name}:jobs"


def write(tmp_path: Path, reference: str, used: str, calendars: str) -> None:
    file = tmp_path / f"{reference.partition(':')[0]}.py"
    file.write_text(MODULE.format(used=used, calendars=calendars), encoding="utf-8")


def test_a_job_keeps_away_from_the_days_of_its_set(tmp_path: Path, reference: str) -> None:
    write(tmp_path, reference, "sundays", "{'sundays': CalendarSpec(weekdays=('sun',))}")
    now = datetime(2027, 3, 6, 9, tzinfo=UTC)  # a Saturday

    schedules = compile_project(load_project([reference]), now)

    assert next_after(schedules["report"].times, now) == datetime(2027, 3, 8, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("used", "calendars", "said"),
    [
        ("sunday", "{'sundays': CalendarSpec(weekdays=('sun',))}", 'jobs.report.except[0]: "sunday" is not a calendar'),
        ("a", "{'a': CalendarSpec(weekdays=('sun',), without=('a',))}", "jobs.calendars.a.except[0]: is a circle"),
        ("a", "{'a': {'weekdays': ['sun']}}", "jobs.calendars.a: is a mapping, not a CalendarSpec"),
    ],
)
def test_what_is_wrong_with_the_calendars_of_a_set_is_told(
    tmp_path: Path, reference: str, used: str, calendars: str, said: str
) -> None:
    write(tmp_path, reference, used, calendars)

    with pytest.raises(SpecError) as caught:
        load_project([reference])

    assert said in str(caught.value)
