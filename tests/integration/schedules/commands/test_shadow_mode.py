"""Jobs in shadow mode: their runs are recorded, none of their steps is run, nobody is told, and every view says so."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from activities.contract import JobRequest, JobResult
from tests.processes import run_command, worker

if TYPE_CHECKING:
    from pathlib import Path

    from temporalio.client import Client

    from tests.servers import DevServer

SPEC = """\
version: 1
project: {name}
channels: {{hook: {{webhook: "http://127.0.0.1:9/"}}}}
defaults: {{timezone: UTC, timeout: 10s, task_queue: {name}, on_failure: [hook], on_missed: [hook]}}
jobs:
  {name}-export: {{schedule: {{every: 2s}}, run: {{command: [touch, "{folder}/ran"]}}}}
"""


async def runs_of(server: DevServer, job: str) -> list[dict[str, Any]]:
    answer = await run_command("schedules", "runs", job, "--output", "json", env=server.environ)
    found: list[dict[str, Any]] = json.loads(answer.stdout)["occurrences"]
    return found


async def test_a_shadow_records_runs_and_does_nothing_until_it_goes_live(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    spec, job, ran = tmp_path / "jobs.yaml", f"{name}-export", tmp_path / "ran"
    spec.write_text(SPEC.format(name=name, folder=tmp_path), encoding="utf-8")
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        synced = await run_command("schedules.sync", spec, "--shadow", env=server.environ)
        assert synced.code == 0, synced.stderr
        assert "watchdog" not in synced.stderr

        while [each["outcome"] for each in await runs_of(server, job)].count("shadow") < 2:
            pass
        status = await run_command("schedules", "status", "--job", job, "--output", "json", env=server.environ)
        assert not ran.exists()
        assert [each["state"] for each in json.loads(status.stdout)["jobs"]] == ["shadow"]

        old = "".join(f"{each['scheduled_at']} {job}\n" for each in await runs_of(server, job) if each["run"])
        (tmp_path / "old.txt").write_text(old, encoding="utf-8")
        report = await run_command(
            "schedules", "shadow", "report", "--evidence", tmp_path / "old.txt", env=server.environ
        )
        assert (report.code, f"{job}: equal: " in report.stdout) == (0, True), report
        (tmp_path / "old.txt").write_text(f"2027-01-01T00:00:00Z {job}\n", encoding="utf-8")
        report = await run_command(
            "schedules", "shadow", "report", "--evidence", tmp_path / "old.txt", env=server.environ
        )
        assert (report.code, f"{job}: differs: 0 matched, 1 only old" in report.stdout) == (1, True), report

        live = await run_command("schedules.sync", spec, env=server.environ)
        assert live.code == 0, live.stderr

        while "succeeded" not in [each["outcome"] for each in await runs_of(server, job)]:
            pass
        assert ran.exists()
    spec.write_text(f"version: 1\nproject: {name}\njobs: {{}}\n", encoding="utf-8")
    await run_command("schedules.sync", spec, env=server.environ)


async def test_a_workflow_that_the_schedule_starts_itself_is_refused(tmp_path: Path) -> None:
    spec = tmp_path / "jobs.yaml"
    spec.write_text(
        "version: 1\nproject: p\njobs:\n  a: {schedule: '@daily', timezone: UTC, timeout: 1m, run: {workflow: {type: W, direct: {}}}}\n",
        encoding="utf-8",
    )
    answer = await run_command("schedules.sync", spec, "--shadow", env={"TEMPORAL_ADDRESS": "127.0.0.1:9"})

    assert answer.code == 2
    assert "--shadow: a: a workflow that the schedule starts directly cannot be shadowed" in answer.stderr


async def started_as_the_schedule_does(client: Client, job: str, at: datetime, **other: Any) -> JobResult:
    """The result of a run of the schedule's action under an occurrence's id, which is what Temporal starts at its time."""
    action: Any = (await client.get_schedule_handle(job).describe()).schedule.action
    [request] = await client.data_converter.decode(action.args, [JobRequest])
    pairs: list[SearchAttributePair[Any]] = [
        SearchAttributePair(SearchAttributeKey.for_keyword("TemporalScheduledById"), job),
        SearchAttributePair(SearchAttributeKey.for_datetime("TemporalScheduledStartTime"), at),
    ]
    result: JobResult = await client.execute_workflow(
        action.workflow,
        replace(request, **other),
        id=f"{job}-{at:%Y-%m-%dT%H:%M:%SZ}",
        task_queue=action.task_queue,
        search_attributes=TypedSearchAttributes(pairs),
        result_type=JobResult,
    )
    return result


async def test_a_scheduled_time_before_the_handover_is_the_old_sides_even_if_temporal_starts_it(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """A time that comes due in the second of the sync is started with what the sync wrote."""
    spec, job, ran = tmp_path / "jobs.yaml", f"{name}-export", tmp_path / "ran"
    spec.write_text(SPEC.format(name=name, folder=tmp_path).replace("every: 2s", "every: 1h"), encoding="utf-8")
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    begins = hour + timedelta(hours=3)
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        synced = await run_command("schedules.sync", spec, "--from", f"{begins:%FT%TZ}", env=server.environ)
        assert synced.code == 0, synced.stderr

        due = await started_as_the_schedule_does(client, job, hour)
        assert (due.outcome, due.reason) == ("shadow", f"before {begins:%FT%TZ} (start_at): no step was run")
        assert not ran.exists()
        claimed = await run_command(
            "schedules", "claim", job, "--at", f"{hour:%FT%TZ}", "--", "touch", ran, env=server.environ
        )
        assert (claimed.code, ran.exists()) == (0, True), claimed.stderr

        by_hand = await started_as_the_schedule_does(client, job, hour + timedelta(seconds=1))
        again = await started_as_the_schedule_does(client, job, hour - timedelta(hours=1), rerun="1")
        first = await started_as_the_schedule_does(client, job, begins)
        assert [by_hand.outcome, again.outcome, first.outcome] == ["succeeded"] * 3


async def test_shadow_and_a_time_to_begin_exclude_each_other() -> None:
    answer = await run_command("schedules.sync", "--shadow", "--from", "2h", env={"TEMPORAL_ADDRESS": "127.0.0.1:9"})

    assert answer.code == 2
    assert "--from: not allowed with argument --shadow" in answer.stderr
