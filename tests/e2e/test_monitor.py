"""Each kind of trouble on a real server, as the monitor, `status` and `explain` tell it, and as who is told of it hears:
by a real Prometheus and Alertmanager, and by a channel of the spec."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from temporalio.client import Client

from tests.processes import run_command, started, worker
from tests.prometheus import ALERTMANAGER, PROMETHEUS, WHY, Alerts, alerting, metrics_are_valid, page, until_none
from tests.receiver import Receiver, receiver
from tests.servers import HOST, DevServer, dev_server, free_port

SPEC = """\
version: 1
project: watched
defaults:
  timezone: Europe/Berlin
  timeout: 2m
  alerts: {overdue: 5s, paused: 1s, slower: 3}
channels:
  hook: {webhook: {url: HOOK}}
jobs:
  good: {schedule: {every: 2s}, run: {command: ["true"]}}
  fails: {schedule: {every: 2s}, run: {command: ["sh", "-c", "[ -e mended ] || exit 3"]}, on_failure: {channels: [hook]}, labels: {team: ledger}, runbook: "https://runbooks.test/x", contact: "ann"}
  lonely: {schedule: {every: 2s}, run: {command: ["true"]}, task_queue: nobody}
  resting: {schedule: {every: 2s}, run: {command: ["true"]}}
  slow: {schedule: {every: 2s}, run: {command: ["sh", "-c", "[ -e slow ] && sleep 100; true"]}}
  late: {schedule: {every: 2s}, start_deadline: 4s, run: {command: ["true"]}}
  waits: {schedule: {every: 2s}, overlap: buffer_all, run: {command: ["sleep", "100"]}}
  yearly: {schedule: "0 9 1 7 *", run: {command: ["true"]}}
  gone: {schedule: {every: 2s}, run: {command: ["true"]}}
"""
OWNER = "watched/default"
STATES = {
    "fails": "failing",
    "lonely": "late",
    "resting": "paused",
    "slow": "running",
    "waits": "running",
    "yearly": "never_ran",
    "gone": "missing",
}
OUTCOMES = {"fails": "failed", "late": "too_late", "lonely": "waiting", "resting": "paused", "waits": "buffered"}
"""Of `explain`, for one occurrence of each."""
WELL = {"good", "yearly"}
Samples = dict[str, dict[str, float]]


async def metrics(url: str) -> Samples:
    """Values by metric and job."""
    found: Samples = defaultdict(dict)
    for family in text_string_to_metric_families(await page(url)):
        for sample in family.samples:
            assert sample.labels.get("owner", OWNER) == OWNER
            found[sample.name.removeprefix("tickwright_job_")][sample.labels.get("job", "")] = sample.value
    return found


@asynccontextmanager
async def troubled(folder: Path, hook: Receiver) -> AsyncIterator[tuple[str, DevServer, Alerts | None]]:
    """Where the metrics are, once everything has gone wrong, and what Alertmanager tells; None without a Prometheus.

    The outage of the server is longer than `start_deadline` and the thresholds of the alerts.
    """
    (folder / "spec.yaml").write_text(SPEC.replace("HOOK", f'"{hook.url}/hook"'))
    port, address, database = free_port(), f"{HOST}:{free_port()}", folder / "temporal.db"
    words = ("spec.yaml", "--interval", "1s", "--address", address)
    with dev_server(port=port, database=database) as first:
        await _run("schedules.sync", folder, first)
        (folder / "rules.yml").write_text(await _run("schedules", folder, first, "rules"))
        async with (
            worker(first.address, cwd=folder, allow_commands="true") as running,
            started("schedules.monitor", *words, env=first.environ, cwd=folder),
            _alerting(folder, [address, (await running.url()).removeprefix("http://")]) as told,
        ):
            url = f"http://{address}/metrics"
            await until_none(lambda: _not_yet_usual(url), "no usual durations")
            client = await Client.connect(first.address)
            await client.get_schedule_handle("resting").pause(note="lunch")
            await client.get_schedule_handle("gone").delete()
            (folder / "slow").touch()
            first.stop()
            await asyncio.sleep(12)
            with dev_server(port=port, database=database) as second:
                yield url, second, told


async def _run(module: str, folder: Path, server: DevServer, *verb: str) -> str:
    done = await run_command(module, *verb, "spec.yaml", env=server.environ, cwd=folder)
    assert done.code == 0, done.stderr
    return done.stdout


def _alerting(folder: Path, targets: list[str]) -> AbstractAsyncContextManager[Alerts | None]:
    return alerting(folder, folder / "rules.yml", targets) if PROMETHEUS and ALERTMANAGER else nullcontext()


async def _not_yet_usual(url: str) -> set[str]:
    return {"slow", "resting", "late"} - (await metrics(url))["usual_duration_seconds"].keys()


@pytest.mark.timeout(240)
async def test_each_kind_of_trouble_is_seen_and_alerted_of(tmp_path: Path) -> None:
    async with receiver() as hook, troubled(tmp_path, hook) as (url, server, told):

        async def unseen() -> set[tuple[str, str]]:
            """Those that are well come to their ends again after the outage."""
            found = trouble(await metrics(url))
            return (TROUBLE - found) | {each for each in found if each[1] in WELL}

        await until_none(unseen, "not all is as it should be")
        assert metrics_are_valid(await page(url))
        await _look(server, tmp_path)
        assert hook.events() == ["failure"], "once, through the outage, too"
        (tmp_path / "mended").touch()
        await hook.until(lambda hook: "recovery" in hook.events(), "a recovery")
        assert hook.events() == ["failure", "recovery"]
        (tmp_path / "mended").unlink()
        if told is None:
            pytest.skip(f"the metrics are right; that they alert {WHY.format('prometheus and alertmanager')}")

        async def untold() -> set[tuple[str, str]]:
            return ALERTS - told.firing()

        await until_none(untold, "not all was told")
        assert "yearly" not in {job for _, job in told.firing()}
        failed = next(alert for alert in told.told if alert["labels"]["alertname"] == "TickwrightJobFailed")
        labels = {"job": "fails", "owner": OWNER, "team": "ledger", "severity": "page"}
        assert failed["labels"] == {"alertname": "TickwrightJobFailed", **labels}
        assert failed["annotations"]["runbook_url"] == "https://runbooks.test/x"


async def _look(server: DevServer, folder: Path) -> None:
    """What `status` says of the jobs, and `explain` of one occurrence of each that is in trouble."""
    jobs = {each["job"]: each for each in (await _json(server, "status", str(folder / "spec.yaml")))["jobs"]}
    assert {name: jobs[name]["state"] for name in STATES} == STATES
    assert jobs["fails"]["incident"]["channels"] == ["hook"]
    assert jobs["late"]["missed"] >= 1
    for name, outcome in OUTCOMES.items():
        runs = (await _json(server, "runs", name, "--since", "10m"))["occurrences"]
        times = [each["scheduled_at"] for each in runs if each["outcome"] == outcome]
        assert times, (name, {each["outcome"] for each in runs})
        told = await _json(server, "explain", name, times[-1])
        assert told["occurrence"]["outcome"] == outcome
        assert told["occurrence"]["reason"]


async def _json(server: DevServer, *words: str) -> dict[str, Any]:
    done = await run_command("schedules", *words, "--output", "json", env=server.environ)
    assert done.code == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def trouble(found: Samples) -> set[tuple[str, str]]:
    """What each metric says is wrong, and of which job."""
    limits = {
        "consecutive_failures": 1,
        "failure_ratio": 0.5,
        "overdue_seconds": 5,
        "late_seconds": 5,
        "paused": 1,
        "missed": 1,
        "buffered": 2,
        "schedule_missing": 1,
        "drift": 1,
    }
    seen = {(name, job) for name, limit in limits.items() for job, value in found[name].items() if value >= limit}
    usual, last = found["usual_duration_seconds"], found["last_duration_seconds"]
    slow = {("slow", job) for job, value in usual.items() if last.get(job, 0) > max(3 * value, 5)}
    return seen | slow


TROUBLE = {
    ("consecutive_failures", "fails"),
    ("failure_ratio", "fails"),
    ("overdue_seconds", "lonely"),
    ("late_seconds", "lonely"),
    ("overdue_seconds", "slow"),
    ("slow", "slow"),
    ("paused", "resting"),
    ("missed", "late"),
    ("buffered", "waits"),
    ("schedule_missing", "gone"),
}
ALERTS = {
    ("TickwrightJobFailed", "fails"),
    ("TickwrightJobFailureRate", "fails"),
    ("TickwrightJobOverdue", "lonely"),
    ("TickwrightJobOverdue", "slow"),
    ("TickwrightJobSlow", "slow"),
    ("TickwrightJobPaused", "resting"),
    ("TickwrightJobMissed", "late"),
    ("TickwrightJobBacklog", "waits"),
}
