"""A schedule hands its last result on as it was stored: under a key that may have been dropped since."""

from __future__ import annotations

import json
from pathlib import Path

from temporalio.client import Client

from schedules.server.codec_keys import KEYS
from tests.codec_texts import key_text
from tests.integration.scenes import Scene
from tests.processes import run_command, worker
from tests.servers import DevServer

OLD, NEW = key_text("old"), key_text("new")


async def test_a_run_that_is_handed_a_result_without_its_key_waits_for_the_key(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    settings = {"task_queue": name, "allow_commands": "true"}
    async with Scene(client, name) as scene:
        async with worker(server.address, cwd=tmp_path, **settings, **{KEYS: OLD}):
            await scene.add("job", run={"command": ["true"]})
            await scene.ended("job")
        taken = {run.id for run in await scene.runs("job")}
        async with worker(server.address, cwd=tmp_path, **settings, **{KEYS: NEW}) as lacking:
            stuck = await scene.run("job", lambda run: run.id not in taken or run.closed_at is None)
            await lacking.until(
                lambda: any("which is not among the keys given" in line for line in lacking.err), "stuck"
            )
            words = ("explain", scene.id("job"), stuck.id, "--output", "json")
            told = await run_command("schedules", *words, env=server.environ)
            assert json.loads(told.stdout)["occurrence"]["outcome"] == "running"
            assert "add it to TICKWRIGHT_CODEC_KEYS_FILE" in told.stdout
        async with worker(server.address, cwd=tmp_path, **settings, **{KEYS: f"{NEW},{OLD}"}):
            done = await scene.run("job", lambda run: run.id == stuck.id and run.closed_at is not None)
    assert done.status == "completed"
