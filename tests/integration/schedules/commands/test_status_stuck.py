"""A run whose workflow task fails again and again, on a real server: it is told, and not taken for one that goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from temporalio.client import Client

from tests.integration.scenes import Scene
from tests.processes import run_command, worker
from tests.servers import DevServer

SOON = "system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=2"
"""Instead of five failures, which take the server the better part of a minute."""


async def test_a_run_that_does_not_get_on_is_failing_with_the_cause(
    start_server: Callable[..., DevServer], name: str, tmp_path: Path
) -> None:
    server = start_server(config=(SOON,))
    client = await Client.connect(server.address)
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name) as running,
        Scene(client, name) as scene,
    ):
        desired = scene.desired("broken")
        unreadable = replace(desired, action=replace(desired.action, args=({"job": 3},)))
        assert await scene.gateway.create(unreadable, "")
        run = await scene.run("broken", lambda run: bool(run.stuck))
        document, text = await told(server, name)
        [state] = document["jobs"]
        _, metrics = await running.get("/metrics")
        await scene.gateway.delete(scene.id("broken"))
    assert run.stuck == "WorkflowWorkerUnhandledFailure"
    assert (state["state"], state["consecutive_failures"]) == ("failing", 0)
    assert "its workflow task fails again and again (WorkflowWorkerUnhandledFailure)" in state["why"]
    assert "again and again" in text
    assert "temporal_workflow_task_execution_failed_total{" in metrics


async def told(server: DevServer, name: str) -> tuple[Any, str]:
    """`status` as JSON and as people read it."""
    words = ("status", "--owner", f"{name}/test")
    as_json = await run_command("schedules", *words, "--output", "json", env=server.environ)
    as_text = await run_command("schedules", *words, env={**server.environ, "COLUMNS": "250"})
    return json.loads(as_json.stdout), " ".join(as_text.stdout.split())
