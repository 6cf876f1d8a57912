"""Realistic spec files: what they come out as in each environment."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from schedules.compile.job import compile_job
from schedules.errors import Location
from schedules.source.load import load_project
from schedules.spec.entries import AtEntry, CronEntry, EveryEntry
from schedules.spec.handlers import RunSpec
from schedules.spec.job import JobSpec
from schedules.spec.kinds.command import CommandSpec
from schedules.spec.kinds.http import HttpSpec
from schedules.spec.kinds.python import PythonSpec
from schedules.spec.project import Project
from schedules.spec.retry import RetrySpec
from tests.factories import NOW

GOOD = Path(__file__).parents[3] / "specs" / "good"


def load(name: str, environment: str | None = None) -> tuple[Project, dict[str, JobSpec]]:
    project = load_project([str(GOOD / name)], environment)
    return project, {job.name: job for job in project.jobs}


def http(job: JobSpec) -> HttpSpec:
    assert job.run
    assert job.run.http
    return job.run.http


def command(job: JobSpec) -> CommandSpec:
    assert job.run
    assert job.run.command
    return job.run.command


def test_a_job_needs_only_its_times_its_limit_and_what_it_runs() -> None:
    project, jobs = load("minimal.yaml")

    assert project.owner == "shop/default"
    assert jobs["report"] == JobSpec(
        name="report",
        schedule=(CronEntry(cron="@daily"),),
        timezone="Europe/Berlin",
        timeout=timedelta(minutes=5),
        run=RunSpec(command=CommandSpec(argv=("./report.sh",))),
        description="",
        labels={},
        jitter=timedelta(0),
        overlap="skip",
        heartbeat_timeout=timedelta(seconds=30),
        retry=RetrySpec(max_attempts=1, backoff="exponential", initial=timedelta(seconds=10), max=timedelta(minutes=5)),
        paused=None,
        task_queue="tickwright",
    )


def test_every_job_knows_where_it_is_written() -> None:
    project, _ = load("billing.yaml")

    file = str(GOOD / "billing.yaml")
    assert project.sources == {
        "invoice-dunning": Location(file, 25, 3),
        "db-cleanup": Location(file, 32, 3),
        "nightly-reconcile": Location(file, 37, 3),
        "ledger-close": Location(file, 43, 3),
    }


def test_jobs_come_in_the_order_of_the_file() -> None:
    project, _ = load("billing.yaml")

    assert [job.name for job in project.jobs] == ["invoice-dunning", "db-cleanup", "nightly-reconcile", "ledger-close"]


def test_a_job_wins_over_the_defaults_key_by_key() -> None:
    _, jobs = load("billing.yaml")

    assert {name: job.timezone for name, job in jobs.items()} == {
        "invoice-dunning": "America/New_York",
        "db-cleanup": "UTC",
        "nightly-reconcile": "America/New_York",
        "ledger-close": "America/New_York",
    }
    assert jobs["invoice-dunning"].timeout == timedelta(minutes=5)
    assert jobs["nightly-reconcile"].timeout == timedelta(minutes=30)
    assert jobs["nightly-reconcile"].labels == {"team": "payments", "tier": "gold"}
    assert jobs["db-cleanup"].retry == RetrySpec(
        max_attempts=1, backoff="exponential", initial=timedelta(seconds=10), max=timedelta(minutes=5)
    )


def test_the_defaults_of_an_environment_win_over_those_of_the_file_and_lose_to_the_job() -> None:
    _, jobs = load("billing.yaml", "production")

    assert {name: (job.timeout, job.retry.max_attempts) for name, job in jobs.items()} == {
        "invoice-dunning": (timedelta(minutes=5), 5),
        "db-cleanup": (timedelta(minutes=60), 1),
        "nightly-reconcile": (timedelta(minutes=60), 5),
        "ledger-close": (timedelta(minutes=60), 5),
    }


def test_an_environment_without_a_word_changes_only_the_owner() -> None:
    without, plain = load("billing.yaml")
    staging, staged = load("billing.yaml", "staging")

    assert (without.owner, staging.owner) == ("billing/default", "billing/staging")
    assert staged == plain


def test_what_an_environment_says_of_a_job_wins_over_the_job() -> None:
    _, jobs = load("billing.yaml", "development")

    assert jobs["db-cleanup"].paused is True
    assert jobs["invoice-dunning"].schedule == (EveryEntry(every=timedelta(minutes=10)),)
    assert http(jobs["invoice-dunning"]) == HttpSpec(
        url="http://localhost:8080/dunning", method="POST", json={"date": "{scheduled_at:%Y-%m-%d}"}
    )
    assert command(jobs["nightly-reconcile"]) == CommandSpec(
        argv=("./export.sh", "{interval_start:%F}", "{interval_end:%F}"), env={"LEDGER": "http://localhost:8081"}
    )


def test_another_handler_replaces_the_first_as_a_whole() -> None:
    _, jobs = load("billing.yaml", "development")

    assert jobs["ledger-close"].run == RunSpec(python=PythonSpec(handler="print-only"))


def test_a_list_is_a_union_of_times() -> None:
    _, jobs = load("billing.yaml")

    assert jobs["ledger-close"].schedule == (
        CronEntry(cron="0 18 28 * *"),
        AtEntry(at=datetime(2027, 3, 1, 9, 0)),  # noqa: DTZ001  a local time of the job's zone
        EveryEntry(every=timedelta(days=1), offset=timedelta(hours=3)),
    )


def test_anchors_and_merge_keys_stand_for_what_they_name() -> None:
    _, jobs = load("anchors.yaml")

    hours = (CronEntry(cron="0 7 * * *"), CronEntry(cron="0 19 * * *"))
    assert [job.schedule for job in jobs.values()] == [hours, hours, hours]
    assert [job.timezone for job in jobs.values()] == ["Europe/Berlin", "Asia/Tokyo", "Europe/Berlin"]
    assert [job.labels["tier"] for job in jobs.values()] == ["gold", "gold", "silver"]
    assert http(jobs["stock-tokyo"]).url == "https://stock.internal/count?store=tokyo"
    assert http(jobs["stock-tokyo"]).headers == {}
    assert jobs["prices"].run == jobs["stock-berlin"].run


def test_http_keeps_what_is_sent_as_it_is_written() -> None:
    _, jobs = load("http.yaml")

    assert http(jobs["ping"]).expect_status == (204,)
    assert http(jobs["chat"]).url == "${secret:CHAT_WEBHOOK}"
    assert http(jobs["chat"]).expect_status == (200, 202)
    assert jobs["chat"].schedule == (AtEntry(at=datetime(2027, 3, 1, 9, tzinfo=timezone(timedelta(hours=1)))),)
    assert http(jobs["by-address"]).json_body == [1, 2.5, True, None, "yes", {"nested": {"deep": []}}]
    assert jobs["by-address"].paused is False


def test_a_command_may_have_everything() -> None:
    _, jobs = load("commands.yaml", "staging")

    backup = jobs["backup"]
    assert (backup.jitter, backup.deadline, backup.heartbeat_timeout, backup.task_queue) == (
        timedelta(seconds=90),
        timedelta(days=2),
        timedelta(seconds=5),
        "big-machines",
    )
    assert command(backup).env == {"DATABASE": "ledger", "BUCKET": "staging", "PGPASSWORD": "${secret:PGPASSWORD}"}
    assert (command(backup).cwd, command(backup).shell, command(backup).permanent_exit_codes) == ("/tmp", True, (2, 64))


def test_json_with_tabs_is_read_as_json() -> None:
    _, jobs = load("tabs.json")

    assert jobs["greet"].description == '😀 says "hello" to C:\\ud83d\\ude00/'
    assert jobs["greet"].run == RunSpec(
        python=PythonSpec(handler="greet", params={"count": 1000.0, "exact": -0.5, "none": None})
    )


@pytest.mark.parametrize("path", sorted(GOOD.iterdir()), ids=lambda path: path.name)
def test_every_good_spec_loads(path: Path) -> None:
    assert load_project([str(path)]).jobs


def test_steps_have_what_they_say_and_the_rest_of_the_job() -> None:
    project, _ = load("steps.yaml")
    request = compile_job(project.jobs[0], "ledger", "default", NOW).action.args[0]

    export, post, audit, tell = request["steps"]
    assert [step["name"] for step in request["steps"]] == ["export", "post", "audit", "tell"]
    assert [step["needs"] for step in request["steps"]] == [
        [],
        ["export"],
        ["export"],
        ["export", "post", "audit"],
    ]
    assert (export["timeout"], post["timeout"], request["deadline"]) == (3600, 1800, 10800)
    assert export["retry"]["permanent"] == ["ValueError", "my_jobs.RowGone"]
    assert (post["retry"]["max_attempts"], post["retry"]["initial"]) == (5, 10)
    assert (audit["task_queue"], audit["start_timeout"]) == ("audit", 600)
    assert tell["when"] == "on_failure"
    undo = post["compensate"]
    assert (undo["name"], undo["timeout"], undo["retry"]["max_attempts"], undo["retry"]["max"]) == (
        "post/undo",
        1800,
        10,
        3600,
    )


def test_an_environment_replaces_steps_by_run_and_run_by_steps() -> None:
    _, jobs = load("steps.yaml", "development")

    assert command(jobs["nightly-reconcile"]).argv == ("echo", "not here")
    assert jobs["nightly-reconcile"].steps == ()
    assert (jobs["month-end"].run, [step.name for step in jobs["month-end"].steps]) == (None, ["close"])


def test_who_is_told_can_be_said_once_for_all_jobs_and_otherwise_in_an_environment() -> None:
    project, jobs = load("alerts.yaml")
    report, quiet = jobs["report"], jobs["quiet"]
    assert report.on_failure
    assert report.on_missed
    assert report.pause_after
    assert (report.on_failure.channels, report.on_failure.after) == (("ops", "hook"), 2)
    assert report.on_failure.remind_every == timedelta(hours=4)
    assert (report.on_recovery, report.contact) == (("hook",), "shop team")
    assert (report.on_missed.channels, report.on_missed.task_queue) == (("short",), "eyes")
    assert (report.pause_after.failures, report.pause_after.retry_every) == (5, timedelta(hours=1))
    assert quiet.on_failure
    assert quiet.on_missed
    assert (quiet.on_failure.channels, quiet.on_missed.grace) == ((), timedelta(minutes=15))
    assert set(project.channels_of("quiet")) == {"ops", "hook", "short"}

    _, changed = load("alerts.yaml", "development")
    told = changed["report"].on_failure
    assert told
    assert (told.channels, told.after, changed["report"].pause_after) == (("ops", "hook"), 5, None)
