"""A roll-out half done: of two workers of a task queue one cannot run the step, and the other can."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.processes import ROOT, worker
from tests.runs import failure, request, shell, start

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from temporalio.client import Client

    from tests.processes import RunningWorker
    from tests.servers import DevServer

NEW = """
from pydantic import BaseModel
from temporalio import workflow
from activities import handler

class Params(BaseModel):
    rows: int

@handler("added")
def added() -> str:
    return "done"

@handler("changed")
def changed(params: Params) -> str:
    return "done"

@workflow.defn(name="Added")
class Added:
    @workflow.run
    async def run(self) -> str:
        return "done"
"""
OLD = """
from activities import handler

@handler("changed")
def changed() -> str:
    return "done"
"""
STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "a handler that is new": ("python", {"handler": "added"}),
    "a parameter that is new": ("python", {"handler": "changed", "params": {"rows": 3}}),
    "a workflow type that is new": ("workflow", {"type": "Added"}),
    "commands that one worker allows": ("command", shell("true")),
    "a secret that one worker has": ("command", shell("test -n ${secret:NEW}")),
}
RUNS = 6


@asynccontextmanager
async def half_done(
    server: DevServer, folder: Path, task_queue: str
) -> AsyncIterator[tuple[RunningWorker, RunningWorker]]:
    """The old worker and the new one."""
    for name, text in {"old": OLD, "new": NEW}.items():
        (folder / name).mkdir()
        (folder / name / "own.py").write_text(text)
    common = {"task_queue": task_queue, "modules": "own", "PYTHONPATH": str(ROOT)}
    new = {"allow_commands": "true", "TICKWRIGHT_SECRET_NEW": "value-of-the-new"}
    async with (
        worker(server.address, cwd=folder / "old", **common) as first,
        worker(server.address, cwd=folder / "new", **common, **new) as second,
    ):
        yield first, second


@pytest.mark.parametrize("what", STEPS)
async def test_a_step_is_run_by_the_worker_that_can(
    what: str, server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """Though it may be tried only once, and though the other worker takes it first about every second time."""
    handler, params = STEPS[what]
    async with half_done(server, tmp_path, name):
        made = [request(handler, params, timeout=120, job=f"{name}-{number}") for number in range(RUNS)]
        results = await asyncio.gather(*[(await start(client, one, name)).result() for one in made])
    assert [result.outcome for result in results] == ["succeeded"] * RUNS
    assert {result.attempts for result in results} == {1}


async def test_what_no_worker_can_run_fails_at_once_and_says_why(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with half_done(server, tmp_path, name):
        made = [request("python", {"handler": "nobody-s"}, job=f"{name}-{number}") for number in range(RUNS)]
        async with asyncio.timeout(60):
            errors = await asyncio.gather(*[failure(await start(client, one, name)) for one in made])
    assert all("there is no handler `nobody-s`" in error.message for error in errors), errors
