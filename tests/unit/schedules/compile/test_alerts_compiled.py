"""From the words of a spec to what a run carries and what the watchdog is given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from activities.notices.contract import WATCHDOG_WORKFLOW, AlertRequest, Target
from schedules.compile.job import compile_job, compile_project
from schedules.compile.notices import compile_alerts
from schedules.spec.job import JobSpec
from schedules.spec.notices import ChannelSet, ChannelSpec
from schedules.spec.project import Project

NOW = datetime(2027, 1, 15, tzinfo=UTC)
CHANNELS = {
    "ops": ChannelSpec.model_validate({"apprise": ["${secret:ONE}", "${secret:TWO}"]}),
    "hook": ChannelSpec.model_validate({"webhook": {"url": "https://hook.example", "headers": {"A": "${secret:B}"}}}),
}
ONE, TWO = Target("ops", apprise="${secret:ONE}"), Target("ops", apprise="${secret:TWO}")
HOOK = Target("hook", url="https://hook.example", headers={"A": "${secret:B}"})


def job(name: str = "ledger", **fields: Any) -> JobSpec:
    usual = {"schedule": "0 8 * * *", "timezone": "UTC", "timeout": "5m", "run": {"command": ["true"]}}
    return JobSpec.model_validate({"name": name, **usual, **fields})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"on_failure": "hook"}, AlertRequest([HOOK])),
        ({"on_failure": ["ops", "hook", "ops"]}, AlertRequest([ONE, TWO, HOOK])),
        (
            {
                "on_failure": {"channels": ["hook"], "after": 3, "remind_every": "4h"},
                "contact": "a",
                "runbook": "https://b",
            },
            AlertRequest([HOOK], after=3, remind_every=14_400.0, contact="a", runbook="https://b"),
        ),
        ({"on_recovery": ["hook"]}, AlertRequest(on_recovery=[HOOK])),
        ({"on_failure": ["hook"], "on_recovery": []}, AlertRequest([HOOK], on_recovery=[])),
        ({"pause_after": 5}, AlertRequest(pause_after=5)),
        ({"pause_after": {"failures": 5, "retry_every": "1h"}}, AlertRequest(pause_after=5, retry_every=3600.0)),
        ({"ping": "${secret:PING}"}, AlertRequest(ping="${secret:PING}")),
        ({"on_failure": "hook", "overlap": "allow_all"}, AlertRequest([HOOK], carried=False)),
        ({"contact": "a", "runbook": "https://b", "on_missed": ["hook"]}, None),
        ({"on_failure": []}, None),
        ({}, None),
    ],
)
def test_what_a_run_carries(fields: dict[str, Any], expected: AlertRequest | None) -> None:
    assert compile_alerts(job(**fields), CHANNELS) == expected


def test_a_job_of_which_nobody_is_told_compiles_to_what_it_did_before_there_were_channels() -> None:
    compiled = compile_job(job(contact="a"), "billing", "default", NOW)
    assert set(compiled.action.args[0]) == {"project", "environment", "job", "times", "steps"} | {
        name for name in compiled.action.args[0] if name in {"catchup", "outcome_attribute"}
    }


def project(*jobs: JobSpec) -> Project:
    names = frozenset(each.name for each in jobs)
    return Project("billing", "production", jobs, channels=(ChannelSet("jobs.yaml", CHANNELS, names),))


def test_a_project_without_on_missed_has_no_watchdog() -> None:
    assert list(compile_project(project(job(on_failure="hook")), NOW)) == ["ledger"]


def test_a_watchdog_looks_three_times_within_the_shortest_grace_and_keeps_each_address_once() -> None:
    jobs = [
        job("a", on_missed={"channels": ["hook"], "grace": "1m"}),
        job("b", on_missed={"channels": ["ops", "hook"], "paused_for": "2h"}, jitter="30s", contact="team b"),
        job("c"),
    ]
    watchdog = compile_project(project(*jobs), NOW)["tickwright-watchdog-billing/production"]
    [request] = watchdog.action.args
    assert [each.every for each in watchdog.times.intervals] == [20]
    assert (watchdog.owner, watchdog.action.task_queue) == ("billing/production", "tickwright")
    assert [each["channel"] for each in request["targets"]] == ["hook", "ops", "ops"]
    assert [(each["job"], each["grace"], each["paused_for"], each["targets"]) for each in request["jobs"]] == [
        ("a", 60.0, 86_400.0, [0]),
        ("b", 930.0, 7_200.0, [1, 2, 0]),
    ]


def test_a_job_is_watched_from_another_queue_than_its_own_where_there_is_one() -> None:
    """One whose workflow is started directly is no other queue: its workers may be none of ours."""
    direct = {"workflow": {"type": "Close", "direct": {}}}
    jobs = [
        job("main-1", on_missed="hook"),
        job("main-2", on_missed="hook"),
        job("side", on_missed="hook", task_queue="side"),
        job("foreign", schedule="@daily", run=direct, task_queue="foreign", on_missed="hook"),
    ]
    watched = {
        watchdog.action.task_queue: [each["job"] for each in watchdog.action.args[0]["jobs"]]
        for watchdog in compile_project(project(*jobs), NOW).values()
        if watchdog.action.workflow_type == WATCHDOG_WORKFLOW
    }
    assert watched == {"side": ["main-1", "main-2"], "tickwright": ["side", "foreign"]}


def test_jobs_are_watched_from_the_queue_they_name_and_many_are_split() -> None:
    jobs = [job(f"j{number}", on_missed="hook") for number in range(401)]
    jobs.append(job("other", on_missed={"channels": "hook", "task_queue": "eyes"}))
    compiled = compile_project(project(*jobs), NOW)
    watchdogs = {name: each for name, each in compiled.items() if name.startswith("tickwright-watchdog")}
    counts = {
        name.removeprefix("tickwright-watchdog-billing/production"): len(each.action.args[0]["jobs"])
        for name, each in watchdogs.items()
    }
    assert counts == {"": 200, "/2": 200, "/3": 1, "/1/eyes": 1}
    assert watchdogs["tickwright-watchdog-billing/production/1/eyes"].action.task_queue == "eyes"
