"""Jobs in shadow mode: their runs are recorded, none of their steps is run, nobody is told, and every view says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.processes import run_command, worker

if TYPE_CHECKING:
    from pathlib import Path

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
