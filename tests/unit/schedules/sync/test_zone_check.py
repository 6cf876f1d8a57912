"""Which questions are asked of the server's tz database, and what an answer comes to."""

from __future__ import annotations

from datetime import UTC, datetime

from schedules.compile.job import compile_job
from schedules.sync.zone_check import difference, probes
from tests.factories import job

NOW = datetime(2027, 3, 1, tzinfo=UTC)


def test_the_next_clock_changes_of_a_zone_are_asked_about_once() -> None:
    written = [compile_job(job(f"job-{n}", schedule="0 8 * * *"), "p", "d", NOW) for n in range(50)]

    asked = probes(written, NOW)

    assert len({probe.schedule_id for probe in asked}) == 1
    assert [probe.expected for probe in asked] == [
        (datetime(2027, 3, 13, 13, tzinfo=UTC), datetime(2027, 3, 14, 12, tzinfo=UTC)),
        (datetime(2027, 11, 6, 12, tzinfo=UTC), datetime(2027, 11, 7, 13, tzinfo=UTC)),
        (datetime(2028, 3, 11, 13, tzinfo=UTC), datetime(2028, 3, 12, 12, tzinfo=UTC)),
        (datetime(2028, 11, 4, 12, tzinfo=UTC), datetime(2028, 11, 5, 13, tzinfo=UTC)),
    ]


def test_the_schedule_that_runs_nearest_to_the_change_is_the_one() -> None:
    weekly, hourly = (
        compile_job(job(name, schedule=cron), "p", "d", NOW)
        for name, cron in (("a", "0 8 * * 3"), ("b", "0 4-9 * * *"))
    )

    assert {probe.schedule_id for probe in probes([weekly, hourly], NOW)} == {"b"}


def test_zones_without_clock_changes_and_jobs_without_local_times_are_not_asked_about() -> None:
    jobs = [job("a", timezone="Asia/Kolkata"), job("b", schedule={"every": "5m"}), job("c", timezone="UTC")]

    assert probes([compile_job(each, "p", "d", NOW) for each in jobs], NOW) == []


def test_a_schedule_with_jitter_is_not_asked_about() -> None:
    """The server's answer has the jitter in it, ours has not."""
    written = [compile_job(job("a", jitter="10m"), "p", "d", NOW), compile_job(job("b"), "p", "d", NOW)]

    assert {probe.schedule_id for probe in probes(written, NOW)} == {"b"}
    assert probes(written[:1], NOW) == []


def test_a_difference_is_told_with_the_instants() -> None:
    probe = probes([compile_job(job(schedule="0 8 * * *"), "p", "d", NOW)], NOW)[0]

    assert difference(probe, probe.expected) is None
    said = difference(probe, (datetime(2027, 3, 13, 13, tzinfo=UTC), datetime(2027, 3, 14, 13, tzinfo=UTC)))
    assert said is not None
    assert said.startswith(
        "the server's tz database differs in America/New_York: invoice-dunning should run at "
        "2027-03-13T13:00:00Z, 2027-03-14T12:00:00Z, and the server says 2027-03-13T13:00:00Z, 2027-03-14T13:00:00Z;"
    )
