"""What is told of workflows that a schedule starts itself: retried, continued as new, under an id of their own."""

from __future__ import annotations

from pathlib import Path

from temporalio.client import Client

from activities.occurrence import stamp
from schedules.ledger.explain import explain
from schedules.ledger.overview import overview
from schedules.ledger.records import Records
from schedules.ledger.selection import Selection
from schedules.ledger.state import JobState
from schedules.monitor.watch import DAY, Watch
from schedules.views.explain import explained_json, explained_text
from tests.integration.scenes import SECOND, Scene, now, until
from tests.processes import ROOT, worker
from tests.servers import DevServer

OWN = """
from temporalio import workflow
from temporalio.exceptions import ApplicationError

@workflow.defn
class Own:
    @workflow.run
    async def run(self, how: str, number: int) -> None:
        if how == "retried" and workflow.info().attempt < 3:
            raise ApplicationError("not yet")
        if how == "continued" and number < 2:
            workflow.continue_as_new(args=[how, number + 1])
        if how == "fails":
            raise ApplicationError("never")
        if how == "long":
            await workflow.sleep(60)
"""
RETRY = {"max_attempts": 3, "coefficient": 1.0}


async def status(records: Records, scene: Scene, name: str) -> JobState:
    """By the job's name, as `status --job` asks."""
    jobs = [job for job in await records.jobs(f"{scene.name}/test") if job.name == name]
    at = now()
    return (await overview(records, jobs, f"{scene.name}/test", at - DAY, at, all_jobs=False)).states[0]


async def test_a_chain_of_workflow_runs_is_one_run_to_every_command(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, modules="own", PYTHONPATH=f"{ROOT}:{tmp_path}"),
        Scene(client, name) as scene,
    ):
        for how in ("retried", "continued", "fails", "long"):
            retry = {**RETRY, "initial_ms": 3000 if how == "fails" else 1000}
            direct = {"id": f"{name}-other-{how}", "retry": retry, "run_timeout": "1h"}
            workflow = {"type": "Own", "args": [how, 0], "direct": direct}
            await scene.add(how, schedule={"every": "1h"}, overlap="allow_all", run={"workflow": workflow})
        for how in ("retried", "continued", "fails", "long"):
            await client.get_schedule_handle(scene.id(how)).trigger()
        await until(now().replace(microsecond=0) + SECOND)  # The time of a trigger is one of whole seconds.
        await client.get_schedule_handle(scene.id("fails")).trigger()
        retrying = await scene.run("fails", lambda run: run.links == 2)
        early = await status(scene.records, scene, scene.id("fails"))
        failed = await scene.run("fails", lambda run: run.closed_at is not None and run.links == 3)
        await scene.run(
            "fails", lambda run: run.links == 3 and failed.scheduled_at < run.scheduled_at and bool(run.closed_at)
        )
        for how in ("retried", "continued"):
            await scene.run(how, lambda run: run.verdict == "succeeded")
        states = {
            how: await status(scene.records, scene, scene.id(how)) for how in ("retried", "continued", "fails", "long")
        }
        watch = Watch(Records(client), Selection(f"{name}/test"))
        await watch.look(now())
        figures = {each.job.removeprefix(f"{name}-"): each for each in watch.figures}
        told = await explain(scene.records, scene.id("fails"), stamp(failed.scheduled_at), now())

    assert retrying.closed_at is None
    assert (early.state, early.failures) == ("running", 0)
    assert {how: (each.last_outcome, each.failures) for how, each in states.items()} == {
        "retried": ("succeeded", 0),
        "continued": ("succeeded", 0),
        "fails": ("failed", 2),
        "long": (None, 0),
    }
    assert states["long"].state == "running"
    assert {how: (each.failures, each.failure_ratio, each.running) for how, each in figures.items()} == {
        "retried": (0, 0.0, 0),
        "continued": (0, 0.0, 0),
        "fails": (2, 1.0, 0),
        "long": (0, None, 1),
    }
    assert figures["retried"].failed_at is None
    assert figures["retried"].last
    assert figures["retried"].last >= 2 * SECOND
    document, text = explained_json(told), explained_text(told)
    assert document["occurrence"]["run"]["workflow_runs"] == 3
    assert "chain      3 workflow runs:" in text
    assert "failed: never" in text
    assert "notice     none: not known for a workflow that the schedule starts itself (direct)" in text
