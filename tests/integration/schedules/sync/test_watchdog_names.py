"""Watchdogs of owners whose names look alike, and those that an earlier version named."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from temporalio.client import Client

from schedules.compile.job import compile_project
from schedules.compile.watchdog import watchdog_id
from schedules.lint.load import load_checked
from schedules.server.gateway import TemporalGateway
from tests.processes import run_command
from tests.servers import DevServer

SPEC = """\
version: 1
project: {project}
environments: {{{environment}: }}
defaults: {{timezone: UTC, timeout: 5m}}
channels: {{ops: {{webhook: "http://127.0.0.1:9"}}}}
jobs:
  {job}: {{schedule: "@daily", on_missed: ops, run: {{command: ["true"]}}}}
"""


def spec(folder: Path, project: str, environment: str, job: str) -> Path:
    path = folder / f"{job}.yaml"
    path.write_text(SPEC.format(project=project, environment=environment, job=job))
    return path


async def watchdogs(client: Client, owner: str) -> list[str]:
    listed = await TemporalGateway(client).owned(owner)
    return sorted(entry.id for entry in listed if entry.workflow_type == "TickwrightWatchdog")


async def test_two_owners_whose_names_are_the_same_with_hyphens_have_two_watchdogs(
    tmp_path: Path, server: DevServer, client: Client, name: str
) -> None:
    for project, environment in ((name, "eu-production"), (f"{name}-eu", "production")):
        path = spec(tmp_path, project, environment, f"{name}-{environment}")
        answer = await run_command("schedules", "sync", path, "--env", environment, env=server.environ)
        assert answer.code == 0, answer.stderr

    assert await watchdogs(client, f"{name}/eu-production") == [f"tickwright-watchdog-{name}/eu-production"]
    assert await watchdogs(client, f"{name}-eu/production") == [f"tickwright-watchdog-{name}-eu/production"]


async def test_the_watchdog_that_an_earlier_version_made_is_replaced_also_where_nothing_is_pruned(
    tmp_path: Path, server: DevServer, client: Client, name: str
) -> None:
    path = spec(tmp_path, name, "production", f"{name}-job")
    made = compile_project(load_checked([str(path)], "production"), datetime.now(UTC))
    old = replace(made[watchdog_id(f"{name}/production")], id=f"tickwright-watchdog-{name}-production")
    for each in (old, made[f"{name}-job"]):
        assert await TemporalGateway(client).create(each)

    answer = await run_command("schedules", "sync", path, "--env", "production", "--no-prune", env=server.environ)
    again = await run_command("schedules", "sync", path, "--env", "production", "--check", env=server.environ)

    assert (answer.code, again.code) == (0, 0), answer.stderr
    assert await watchdogs(client, f"{name}/production") == [f"tickwright-watchdog-{name}/production"]
