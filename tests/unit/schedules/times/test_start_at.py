"""`start_at`: no time of a job lies before it, in the zone of the job, by itself, by defaults and by `sync --from`."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from schedules.compile.job import compile_job
from schedules.cron.occurrences import occurrences_of
from schedules.ledger.due import due
from schedules.lint.load import load_checked
from schedules.spec.project import starting
from schedules.times.job import job_times
from schedules.times.moment import Moment
from tests.factories import job

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2027, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("start_at", "first"),
    [
        ("2027-03-05T10:30", "2027-03-05T10:00"),  # Berlin is an hour ahead of UTC
        ("2027-03-05T10:00", "2027-03-05T09:00"),  # a time at that very moment is a time
        ("2027-03-05T10:00:01", "2027-03-05T10:00"),
        ("2027-03-05T10:30Z", "2027-03-05T11:00"),
        ("2027-03-28T02:30", "2027-03-28T02:00"),  # does not exist: 03:30 in summer time
        ("2027-10-31T02:30", "2027-10-31T01:00"),  # happens twice: from the first on
    ],
)
def test_the_first_time_is_not_before_it(start_at: str, first: str) -> None:
    times = job_times(job(schedule="0 * * * *", timezone="Europe/Berlin", start_at=start_at), "p", NOW).times
    [at] = islice(occurrences_of(times).between(NOW, datetime(2028, 1, 1, tzinfo=UTC)), 1)
    assert f"{at:%Y-%m-%dT%H:%M}" == first


def test_a_sync_from_a_time_moves_no_job_to_an_earlier_one(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "version: 1\nproject: p\ndefaults: {timezone: Europe/Berlin, timeout: 5m}\njobs:\n"
        "  a: {schedule: '@daily', run: {command: [a]}}\n"
        "  b: {schedule: '@daily', start_at: 2027-03-05T10:00, run: {command: [a]}}\n"
        "  c: {schedule: '@daily', start_at: 2027-03-04T10:00Z, run: {command: [a]}}\n"
    )
    project = starting(load_checked([str(tmp_path)], None, now=NOW), datetime(2027, 3, 5, 8, 30, tzinfo=UTC))
    starts = [job_times(each, "p", NOW).times.start_at for each in project.jobs]
    assert [f"{at:%d %H:%M}" for at in starts if at] == ["05 08:30", "05 09:00", "05 08:30"]


def test_explain_says_whose_the_times_before_are() -> None:
    times = job_times(job(schedule="0 * * * *", start_at="2027-03-05T10:30Z"), "p", NOW).times
    found = due(times, Moment((datetime(2027, 3, 5, 10, tzinfo=UTC),)))
    assert (found.kind, found.notes) == (
        "not_scheduled",
        ("the job begins at 2027-03-05T10:30:00Z (start_at): what ran before is another scheduler's",),
    )


@pytest.mark.parametrize(("start_at", "handed"), [("2027-03-05T10:30Z", "2027-03-05T10:30:00Z"), (None, None)])
def test_a_run_is_told_of_it_and_a_job_without_it_stays_as_it_is(start_at: str | None, handed: str | None) -> None:
    [request] = compile_job(job(schedule="0 * * * *", start_at=start_at), "p", "default", NOW).action.args
    assert request.get("start_at") == handed
