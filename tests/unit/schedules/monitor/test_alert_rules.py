"""Every generated rule, as Prometheus' own `promtool` judges it: at which values it fires, and at which it does not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from activities.account.facts import Run
from schedules.ledger.account import last_times
from schedules.ledger.facts import Job
from schedules.ledger.occurrences import ledger
from schedules.monitor.alert_rules import rule_file
from schedules.monitor.deadline import expected_by, overdue
from schedules.spec.project import Project
from schedules.text.yaml import yaml_text
from schedules.times.job import job_times
from tests.factories import job, utc
from tests.prometheus import needs_promtool, promtool

OWNER = "billing/production"
JOB = {"job": "relay", "owner": OWNER}
SELECTOR = f'{{job="relay",owner="{OWNER}"}}'
DAY = 24
"""Hours."""
HOSTILE = '{{ $labels }} <b>"quoted" \\ \' {{"x"}} 🎉 %s' + "n" * 100


def rules(*jobs: Any) -> dict[str, Any]:
    return rule_file(Project("billing", "production", jobs))


def by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for rule in document["groups"][0]["rules"]}


def judged(folder: Path, rules: dict[str, Any], *tests: dict[str, Any]) -> str:
    """What `promtool test rules` says of the rules."""
    (folder / "rules.yml").write_text(yaml_text(rules))
    every = tests[0]["interval"]
    document = {"rule_files": ["rules.yml"], "evaluation_interval": every, "tests": list(tests)}
    (folder / "tests.yml").write_text(yaml.safe_dump(document))
    return promtool("test", "rules", folder / "tests.yml")


@dataclass(frozen=True)
class Case:
    """`series` are values by metric, one a minute or hour; at `quiet` ones nothing fires, at `loud` ones the alert does."""

    alert: str
    series: dict[str, str]
    quiet: tuple[int, ...]
    loud: tuple[int, ...]
    severity: str
    summary: str
    labels: tuple[tuple[str, str], ...] = tuple(JOB.items())
    unit: str = "m"

    def document(self) -> dict[str, Any]:
        """As promtool has it."""
        fired = {
            "exp_labels": {**dict(self.labels), "severity": self.severity},
            "exp_annotations": {"summary": self.summary},
        }
        asked: list[tuple[int, list[Any]]] = [(at, []) for at in self.quiet] + [(at, [fired]) for at in self.loud]
        return {
            "interval": f"1{self.unit}",
            "input_series": [{"series": name, "values": values} for name, values in self.series.items()],
            "alert_rule_test": [
                {"eval_time": f"{at}{self.unit}", "alertname": f"Tickwright{self.alert}", "exp_alerts": alerts}
                for at, alerts in asked
            ],
        }


def of_job(name: str, values: str) -> dict[str, str]:
    return {f"tickwright_job_{name}{SELECTOR}": values}


def slow(usual: str, last: str) -> dict[str, str]:
    return of_job("usual_duration_seconds", usual) | of_job("last_duration_seconds", last)


BLIND = f"no monitor has seen the jobs of {OWNER} of late: nobody would be told of them"
NONE = "no worker polls task queue tickwright of namespace live"
QUEUE = (("owner", OWNER), ("task_queue", "tickwright"), ("namespace", "live"))


def last_look(values: str, owner: str = OWNER, **labels: str) -> dict[str, str]:
    told = {"owner": owner, "namespace": "live", **labels}
    text = ",".join(f'{name}="{value}"' for name, value in told.items())
    return {f"tickwright_monitor_owner_last_look_timestamp_seconds{{{text}}}": values}


def worker(values: str, task_queue: str = "tickwright", namespace: str = "live") -> dict[str, str]:
    labels = f'task_queue="{task_queue}",namespace="{namespace}",build_id="1"'
    return {f"tickwright_worker_info{{{labels}}}": values}


STUCK = "workflow tasks of JobWorkflow in task queue tickwright fail: some run does not get on"


def failed_tasks(values: str) -> dict[str, str]:
    labels = 'task_queue="tickwright",namespace="live",workflow_type="JobWorkflow",failure_reason="WorkflowError"'
    return {f"temporal_workflow_task_execution_failed_total{{{labels}}}": values}


OTHERS = last_look("0+60x30", "other/production") | last_look("0+60x30", "billing/staging", namespace="staging")
"""Monitors of other projects and environments, alive."""
FAILED = "relay failed after all its attempts"
CASES = [
    Case("JobOverdue", of_job("overdue_seconds", "900 901"), (0,), (1,), "page", "relay should have ended 15m 1s ago and has not"),
    Case("JobMissed", of_job("missed", "0 2"), (0,), (1,), "warn", "relay missed 2 of its times of the last 24 hours (at most 200)"),
    Case("JobBacklog", of_job("buffered", "10 11"), (0,), (1,), "warn", "11 starts of relay wait for a run to end"),
    Case("JobPaused", of_job("paused_since_timestamp_seconds", f"0x{8 * DAY}"), (7 * DAY,), (7 * DAY + 1,), "ticket", "relay has been paused for more than 7d", unit="h"),
    Case("JobFailed", of_job("consecutive_failures", "0 1 0"), (0, 2), (1,), "page", FAILED),
    Case("JobFailed", of_job("last_failure_timestamp_seconds", "0x20"), (15, 16), (1, 14), "page", FAILED),
    Case("RunStuck", of_job("stuck_runs", "0 2"), (0,), (1,), "page", "2 runs of relay do not get on: their workflow tasks fail again and again, see the worker's log"),
    Case("WorkflowTasksFail", failed_tasks("0x60 1x60"), (60, 90), (), "page", ""),
    Case("WorkflowTasksFail", failed_tasks("0x10 0+1x30"), (10, 14), (30,), "page", STUCK, (*QUEUE, ("workflow_type", "JobWorkflow"))),
    Case("JobFailureRate", of_job("failure_ratio", "0.1 0.25"), (0,), (1,), "ticket", "25% of the runs of relay failed, of the last 24 hours (at most 200)"),
    Case("JobSlow", slow("10 10", "20 21"), (0,), (1,), "warn", "relay takes 21s, 2 times as long as usual or more"),
    Case("JobSlow", slow("1 1", "5 6"), (0,), (1,), "warn", "relay takes 6s, 2 times as long as usual or more"),
    Case("JobSlowing", of_job("usual_duration_seconds", f"10x{7 * DAY} 16x20"), (7 * DAY, 7 * DAY + 1), (7 * DAY + 3,), "warn", "relay has come to take 16s: longer and longer in a week", unit="h"),
    Case("JobSlowing", of_job("usual_duration_seconds", f"1x{7 * DAY} 4x20"), (7 * DAY + 3,), (), "warn", "", unit="h"),
    Case("ScheduleMissing", of_job("schedule_missing", "0 0 1x20"), (1, 6), (8,), "page", "relay has no schedule; run a sync"),
    Case("ScheduleDrift", of_job("drift", "0 0 1x30"), (1, 16), (18,), "ticket", "the schedule of relay is not as its spec"),
    Case("ScheduleHorizon", of_job("exact_until_timestamp_seconds", f"{31 * 86400}x{2 * DAY}"), (DAY,), (DAY + 1,), "ticket", "clock changes and holidays of relay are known for 29d 23h 0m 0s more; run a sync", unit="h"),
    Case("MonitorGone", OTHERS | last_look("0+60x5 300x20"), (5, 11), (13,), "page", BLIND, (("owner", OWNER),)),
    Case("MonitorGone", OTHERS | last_look("0+60x5 stale"), (5, 6), (7,), "page", BLIND, (("owner", OWNER),)),
    Case("MonitorGone", last_look("0x30", instance="a") | last_look("0+60x30", instance="b"), (30,), (), "page", BLIND),
    Case("WorkersGone", last_look("0+60x30") | worker("1x5 stale"), (5, 10), (11,), "page", NONE, QUEUE),
    Case("WorkersGone", last_look("0+60x30") | worker("1x30", "other"), (4,), (5,), "page", NONE, QUEUE),
    Case("WorkersGone", OTHERS | last_look("0+60x30") | worker("1x30", namespace="staging"), (4,), (5,), "page", NONE, QUEUE),
    Case("WorkersGone", OTHERS | last_look("0+60x30") | worker("1x30"), (4, 30), (), "page", NONE, QUEUE),
]  # fmt: skip


@needs_promtool
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.alert}-{next(iter(case.series))[:44]}")
def test_a_rule_fires_beyond_its_threshold_and_not_at_it(case: Case, tmp_path: Path) -> None:
    assert "SUCCESS" in judged(tmp_path, rules(job("relay")), case.document())


@needs_promtool
def test_no_two_rules_have_the_same_name_and_labels(tmp_path: Path) -> None:
    """Which promtool takes for a mistake."""
    jobs = [
        job("one", alerts={"overdue": "1h"}, runbook="https://runbooks.test/one"),
        job("two", task_queue="other", alerts={"paused": "3d"}, contact="ann"),
        job("three", labels={"team": "ledger"}),
    ]
    (tmp_path / "rules.yml").write_text(yaml_text(rules(*jobs)))
    assert "SUCCESS" in promtool("check", "rules", "--lint-fatal", tmp_path / "rules.yml")


@needs_promtool
def test_jobs_that_share_a_rule_keep_their_thresholds_and_their_own_words(tmp_path: Path) -> None:
    jobs = [
        job("one", alerts={"paused": "1d"}, runbook="https://runbooks.test/{{one}}", contact=HOSTILE[:100]),
        job("two", alerts={"paused": "3d"}, labels={"runbook": "https://runbooks.test/two"}),
        job("three", alerts={"paused": "3d"}),
    ]
    series = {
        f'tickwright_job_paused_since_timestamp_seconds{{job="{each.name}",owner="{OWNER}"}}': f"0x{4 * DAY}"
        for each in jobs
    }
    words: dict[str, dict[str, str]] = {
        "one": {"summary": "one has been paused for more than 1d", "runbook_url": "https://runbooks.test/{{one}}", "contact": HOSTILE[:100]},
        "two": {"summary": "two has been paused for more than 3d", "runbook_url": "https://runbooks.test/two", "contact": ""},
        "three": {"summary": "three has been paused for more than 3d", "runbook_url": "", "contact": ""},
    }  # fmt: skip
    fired = [
        {"exp_labels": {"job": name, "owner": OWNER, "severity": "ticket"}, "exp_annotations": words[name]}
        for name in words
    ]
    case = Case("JobPaused", series, (DAY,), (), "ticket", "", unit="h").document()
    for at, names in ((DAY + 1, 1), (3 * DAY, 1), (3 * DAY + 1, 3)):
        expected = {"eval_time": f"{at}h", "alertname": "TickwrightJobPaused", "exp_alerts": fired[:names]}
        case["alert_rule_test"].append(expected)

    assert "SUCCESS" in judged(tmp_path, rules(*jobs), case)


def test_every_rule_has_a_case() -> None:
    assert {name.removeprefix("Tickwright") for name in by_name(rules(job("relay")))} == {case.alert for case in CASES}


@needs_promtool
def test_two_monitors_alert_once(tmp_path: Path) -> None:
    series = {f'tickwright_job_missed{{job="relay",owner="{OWNER}",instance="{each}"}}': "1x5" for each in "ab"}
    case = Case("JobMissed", series, (), (1,), "warn", "relay missed 1 of its times of the last 24 hours (at most 200)")

    assert "SUCCESS" in judged(tmp_path, rules(job("relay")), case.document())


TOOK = timedelta(seconds=5)
SPANS = {
    "every 10 s": ({"every": "10s"}, "2027-03-01T12:00"),
    "every 5 minutes": ("*/5 * * * *", "2027-03-01T12:00"),
    "hourly, where 02:00 does not exist": ("0 * * * *", "2027-03-28T01:00"),
    "hourly, the second 02:00": ("0 * * * *", "2027-10-31T01:00"),
    "daily at 02:30, which does not exist": ("30 2 * * *", "2027-03-28T01:00"),
    "daily at 02:30, which is there twice": ("30 2 * * *", "2027-10-31T00:30"),
    "daily, the day after clocks went forward": ("0 8 * * *", "2027-03-29T06:00"),
    "monthly": ("0 6 1 * *", "2027-04-01T04:00"),
    "yearly": ("@yearly", "2027-12-31T23:00"),
}
"""A schedule in Berlin, and one of its times in UTC: clocks go forward at 01:00Z on 28 March, back at 01:00Z on 31 October."""


@needs_promtool
@pytest.mark.parametrize("named", SPANS)
def test_a_job_that_stops_is_alerted_of_fifteen_minutes_after_it_should_have_ended(named: str, tmp_path: Path) -> None:
    """Its runs take 5 s, so 10 are allowed; it stops at the given time, or goes on."""
    schedule, text = SPANS[named]
    first, spec = utc(text), job("relay", schedule=schedule, timezone="Europe/Berlin")
    known = Job("relay", job_times(spec, "billing", utc("2027-01-01T00:00")).times, OWNER)
    begin = first - timedelta(minutes=5)
    stopped, going = ([_overdue(known, begin, minute, end) for minute in range(40)] for end in (first, None))
    summary = "relay should have ended 15m 50s ago and has not"
    quiet = Case("JobOverdue", of_job("overdue_seconds", _text(going)), (5, 10, 22, 30, 39), (), "page", "")
    loud = Case("JobOverdue", of_job("overdue_seconds", _text(stopped)), (5, 10, 20), (21,), "page", summary)

    assert "SUCCESS" in judged(tmp_path, rules(spec), quiet.document(), loud.document())


@needs_promtool
def test_a_yearly_time_that_was_missed_is_alerted_of_until_the_job_runs(tmp_path: Path) -> None:
    """The namespace keeps three days; what the schedule has started tells that it was not this time."""
    at, created = utc("2027-01-01T00:00"), utc("2025-06-01T00:00")
    times = job_times(job("relay", schedule="@yearly", timezone="UTC"), "billing", at).times
    lists = {"missed": "relay-2026-01-01T00:00:00Z", "ran": "relay-2027-01-01T00:00:00Z"}
    values = {}
    for name, last in lists.items():
        known = Job("relay", times, OWNER, created_at=created, retention=timedelta(days=3), recent=(last,))
        nows = [at + timedelta(days=day) for day in range(1, 20)]
        deadlines = [expected_by(known, ledger(known, [], at, now, now), [], now) for now in nows]
        values[name] = _text([overdue(found, now).total_seconds() for found, now in zip(deadlines, nows, strict=True)])
    loud = Case(
        "JobOverdue",
        of_job("overdue_seconds", values["missed"]),
        (),
        (18,),
        "page",
        "relay should have ended 19d 0h 0m 0s ago and has not",
    )
    quiet = Case("JobOverdue", of_job("overdue_seconds", values["ran"]), (0, 2, 18), (), "page", "")  # fmt: skip

    assert "SUCCESS" in judged(tmp_path, rules(job("relay")), loud.document(), quiet.document())


def _overdue(known: Job, begin: datetime, minute: int, stopped_at: datetime | None) -> float:
    """What the monitor tells of a job that runs on time until it stops."""
    now = begin + timedelta(minutes=minute)
    runs = [
        Run(f"relay-{at}", str(at), at, at, at + TOOK, "completed", scheduled_by="relay")
        for at in _times(known, now)
        if (stopped_at is None or at < stopped_at) and at + TOOK <= now
    ]
    since = now - timedelta(hours=1) if len(runs) > 3 else now - timedelta(days=400)
    occurrences = ledger(known, runs, max(since, _times(known, now)[0]), now, now)
    return overdue(expected_by(known, occurrences, runs, now), now).total_seconds()


def _times(known: Job, now: datetime) -> list[datetime]:
    """Some of the last times, oldest first."""
    return last_times(known, 3 if known.times.calendars else 100, now)[::-1]


def _text(values: list[float]) -> str:
    return " ".join(f"{value:g}" for value in values)


@needs_promtool
def test_thresholds_of_a_job_are_its_own_and_null_is_none(tmp_path: Path) -> None:
    mild = {"overdue": "1h", "failed": False, "failure_rate": None, "slower": None, "missed": False, "backlog": None}
    document = rules(job("relay", alerts={**mild, "paused": None}), job("other.job"), job("third"))
    relay = [rule for rule in document["groups"][0]["rules"] if "relay" in rule["expr"]]

    assert [rule["alert"].removeprefix("Tickwright") for rule in relay] == ["JobOverdue", "RunStuck", "ScheduleMissing", "ScheduleDrift", "ScheduleHorizon"]  # fmt: skip
    series = {f'tickwright_job_overdue_seconds{{job="{each}",owner="{OWNER}"}}': "3600 3601" for each in ("relay", "otherXjob")}  # fmt: skip
    case = Case("JobOverdue", series, (0,), (1,), "page", "relay should have ended 1h 0m 1s ago and has not")
    assert "SUCCESS" in judged(tmp_path, document, case.document())


@needs_promtool
def test_labels_and_runbooks_of_any_text_stay_as_they_are(tmp_path: Path) -> None:
    labels = {"team": HOSTILE, "runbook": HOSTILE, "no label": "x", "severity": "none", "__x": "y", "job": "z"}
    labels |= {"app.kubernetes.io/name": "shop", "1st": "é"}
    document = rules(job("relay", labels=labels))
    fired = {
        "exp_labels": {
            **JOB,
            "team": HOSTILE,
            "no_label": "x",
            "exported_severity": "none",
            "_x": "y",
            "exported_job": "z",
            "app_kubernetes_io_name": "shop",
            "_1st": "é",
            "severity": "warn",
        },
        "exp_annotations": {
            "summary": "relay missed 1 of its times of the last 24 hours (at most 200)",
            "runbook_url": HOSTILE,
        },
    }
    case = Case("JobMissed", of_job("missed", "1"), (), (0,), "warn", "").document()
    case["alert_rule_test"][0]["exp_alerts"] = [fired]

    assert "SUCCESS" in judged(tmp_path, document, case)


@needs_promtool
def test_a_thousand_jobs_share_their_rules(tmp_path: Path) -> None:
    document = rules(*(job(f"job.{number}", task_queue='q"\\{{x}}') for number in range(1_000)))
    assert len(document["groups"][0]["rules"]) == 15
    series = {f'tickwright_job_missed{{job="job.{number}",owner="{OWNER}"}}': "1" for number in (0, 999)}
    expected = [
        {
            "exp_labels": {"job": f"job.{number}", "owner": OWNER, "severity": "warn"},
            "exp_annotations": {"summary": f"job.{number} missed 1 of its times of the last 24 hours (at most 200)"},
        }
        for number in (0, 999)
    ]
    case = Case("JobMissed", series, (), (0,), "warn", "").document()
    case["alert_rule_test"][0]["exp_alerts"] = expected

    assert "SUCCESS" in judged(tmp_path, document, case)


def test_only_queues_of_our_own_workers_are_missed() -> None:
    """Who runs a workflow that the schedule starts itself may export nothing: that alert could never end."""
    direct = {"workflow": {"type": "Approval", "direct": {}}}
    of = [
        job("one", task_queue="ours"),
        job("two", task_queue="theirs", run=direct),
        job("three", task_queue="ours", on_missed={"channels": ["ops"], "task_queue": "watching"}),
    ]
    queues = {rule["annotations"]["summary"] for rule in rules(*of)["groups"][0]["rules"] if "Workers" in rule["alert"]}
    of_namespace = "of namespace {{ $labels.namespace }}"
    told = {f"no worker polls task queue {queue} {of_namespace}" for queue in ("ours", "watching")}
    assert queues == told


def test_a_workflow_that_the_schedule_starts_itself_has_the_other_rules() -> None:
    direct = {"workflow": {"type": "Approval", "direct": {}}}
    names = {"TickwrightJobOverdue", "TickwrightJobFailed", "TickwrightJobMissed", "TickwrightJobPaused"}
    assert names <= set(by_name(rules(job("two", task_queue="theirs", run=direct))))
