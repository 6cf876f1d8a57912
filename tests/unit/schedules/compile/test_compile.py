"""From a spec to the schedule that Temporal should have."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schedules.compile.job import compile_job
from schedules.cron import CronError
from schedules.model import Calendar, Interval, Range, Times
from schedules.spec.handlers import RunSpec
from schedules.times import wire
from schedules.times.horizon import horizon
from schedules.times.job import job_times
from tests.factories import NOW, job


def test_a_weekday_job_compiles_to_one_calendar() -> None:
    times = compile_job(job(), "billing", "production", NOW).times
    (calendar,) = times.calendars
    assert (calendar.minute, calendar.hour, calendar.day_of_week) == ((Range(0, 0),), (Range(8, 8),), (Range(1, 5),))
    assert (times.timezone, times.intervals) == ("America/New_York", ())


def test_owner_and_name_say_whose_it_is() -> None:
    schedule = compile_job(job("dunning"), "billing", "production", NOW)
    assert (schedule.id, schedule.owner) == ("dunning", "billing/production")
    assert schedule.action.search_attributes == {"TickwrightOwner": "billing/production"}


def test_the_request_carries_the_spec_in_seconds() -> None:
    spec = job(
        timeout="5m",
        deadline="1h",
        heartbeat_timeout="10s",
        retry={"max_attempts": 3, "backoff": "linear", "initial": "10s", "max": "2m"},
        run={"http": {"url": "https://billing.internal/x", "json": {"date": "{scheduled_at:%F}"}}},
    )
    (request,) = compile_job(spec, "billing", "production", NOW).action.args
    assert request == {
        "project": "billing",
        "environment": "production",
        "job": "invoice-dunning",
        "times": {
            "timezone": "America/New_York",
            "calendars": ["0 0 8 * * 1-5 *"],
        },
        "steps": [
            {
                "name": "run",
                "handler": "http",
                "params": {
                    "method": "POST",
                    "url": "https://billing.internal/x",
                    "json": {"date": "{scheduled_at:%F}"},
                },
                "timeout": 300.0,
                "heartbeat_timeout": 10.0,
                "retry": {"max_attempts": 3, "backoff": "linear", "initial": 10.0, "max": 120.0},
            }
        ],
        "deadline": 3600.0,
        "catchup": {
            "policy": "run_latest",
            "overlap": "skip",
            "late_after": 60.0,
            "window": 365 * 86_400.0,
            "jitter": 0.0,
            "max_missed": 1,
        },
        "outcome_attribute": True,
    }


@pytest.mark.parametrize("body", [{}, [], 0, False, ""])
def test_an_empty_json_body_is_a_body(body: object) -> None:
    run = RunSpec.model_validate({"http": {"url": "https://x.internal", "json": body}})
    assert run.handler.step_params()["json"] == body


def test_a_list_of_entries_is_their_union_and_fires_once() -> None:
    times = job_times(job(schedule=["0 8 * * *", "0 8 * * *", {"every": "5m", "offset": "30s"}]), "billing", NOW).times
    assert (len(times.calendars), times.intervals) == (1, (Interval(300, 30),))


def test_jitter_is_carried_in_seconds() -> None:
    assert job_times(job(jitter="30s"), "billing", NOW).times.jitter == 30


def test_entries_of_two_zones_are_refused() -> None:
    with pytest.raises(CronError, match="one zone"):
        job_times(job(schedule=["CRON_TZ=Asia/Tokyo 0 8 * * *", "0 9 * * *"]), "billing", NOW)


def test_a_spec_compiles_alike_all_year() -> None:
    spec = job(schedule="30 2 * * *")
    first, last = datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 12, 31, 23, 59, tzinfo=UTC)
    assert compile_job(spec, "billing", "p", first) == compile_job(spec, "billing", "p", last)


def test_times_are_exact_for_three_years_from_any_day() -> None:
    now = datetime(2027, 12, 31, 23, 59, tzinfo=UTC)
    start, end = horizon(now)
    assert start <= now
    assert end.year >= now.year + 3


@pytest.mark.parametrize("overlap", ["skip", "buffer_one", "cancel_other", "terminate_other"])
def test_where_late_runs_are_bounded_an_outage_of_a_year_is_caught_up(overlap: str) -> None:
    assert compile_job(job(overlap=overlap), "b", "p", NOW).policies.catchup_window == 365 * 86400


def test_the_web_ui_is_told_what_was_written() -> None:
    action = compile_job(job(description="Remind customers.\nTwice."), "billing", "production", NOW).action
    assert action.summary == "Remind customers."
    assert "`0 8 * * 1-5` in America/New_York" in action.details


def test_times_survive_the_wire() -> None:
    times = Times(
        "Europe/Berlin",
        (Calendar(second=(Range(0, 59, 5),), minute=(Range(1, 1), Range(10, 20, 2)), year=(Range(2027, 2028),)),),
        (Interval(300, 30),),
        (Calendar(day_of_month=(Range(24, 26),), month=(Range(12, 12),)),),
    )
    request = wire.to_request(times)
    assert request.calendars == ["0-59/5 1,10-20/2 0 * * * 2027-2028"]
    assert request.exclusions == ["0 0 0 24-26 12 * *"]
    assert wire.from_request(request) == times


def test_the_web_ui_is_told_what_each_step_is() -> None:
    steps = [
        {"name": "export", "command": ["./export.sh"], "timeout": "1h"},
        {
            "name": "post",
            "http": {"url": "https://a.b/c"},
            "needs": ["export"],
            "compensate": {"command": ["./undo.sh"]},
        },
        {"name": "tell", "python": {"handler": "tell"}, "needs": ["post"], "when": "on_failure", "task_queue": "chat"},
    ]
    details = compile_job(job(run=None, steps=steps), "billing", "production", NOW).action.details
    assert (
        "**Runs** 3 steps\n"
        "- `export`: command `./export.sh`, timeout 1h\n"
        "- `post`: http `POST https://a.b/c`, after export, taken back by command `./undo.sh`\n"
        "- `tell`: python `tell`, after post, on failure, on task queue chat\n"
    ) in details
