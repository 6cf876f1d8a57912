"""A project whose schedules have moved to Temporal's V2 scheduler: nothing of it has changed, and all goes on as before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from temporalio.client import Client

from schedules.server.gateway import TemporalGateway
from tests.deploy import Deploy
from tests.integration.operating import done
from tests.processes import run_command
from tests.schedulers import BEFORE_MOVE, MOVING, move, scheduler_of
from tests.servers import DevServer, free_port

if TYPE_CHECKING:
    from collections.abc import Callable


def actions(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change["action"], change["result"]) for change in document["changes"]]


async def test_it_is_in_sync_and_can_be_changed_adopted_and_made_anew(
    start_server: Callable[..., DevServer], name: str, tmp_path: Path
) -> None:
    place = {"database": tmp_path / "temporal.db", "port": free_port()}
    before = start_server(**place, config=BEFORE_MOVE)
    specs, others = tmp_path / "specs", tmp_path / "others"
    specs.mkdir()
    others.mkdir()
    deploy = Deploy(specs, before.environ, name)
    for short in ("kept", "changed", "gone"):
        deploy.job(short)
    await deploy.sync()
    kept, changed, gone = deploy.jobs
    await done(before, "pause", changed, "--reason", "the disk is full")
    before.stop()

    server = start_server(**place, config=MOVING)
    client = await Client.connect(server.address)
    gateway = TemporalGateway(client)
    await move(client, *deploy.jobs)
    check = await deploy.run("--check", "--deep", "--output", "json")
    deploy.jobs[changed]["schedule"] = "30 9 * * *"
    old = deploy.jobs.pop(gone)
    second = await deploy.sync()
    observed = await gateway.describe(changed)
    deploy.jobs[gone] = old
    third = await deploy.sync()
    other = Deploy(others, server.environ, f"{name}-other")
    other.jobs = {kept: deploy.jobs[kept]}
    refused = await other.run("--output", "json")
    adopted = await other.sync("--adopt")
    exported = await run_command("schedules", "export", env=server.environ)

    assert (check.code, json.loads(check.stdout)["changes"]) == (0, [])
    assert actions(second) == [("update", "applied"), ("delete", "applied")]
    assert observed is not None
    assert (observed.state.paused, "the disk is full" in observed.state.note) == (True, True)
    assert actions(third) == [("create", "applied")]
    assert {await scheduler_of(client, job) for job in (kept, changed, gone)} == {"V2"}
    assert (refused.code, f"belongs to {name}/default" in refused.stdout) == (1, True)
    assert actions(adopted) == [("update", "applied")]
    assert (exported.code, "3 already belong to a project" in exported.stderr) == (0, True)
