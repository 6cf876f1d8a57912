"""Records histories of the operating workflows from a real dev server: `python -m tests.replay.record_operating`, once for each release.

They go to `operating/<version>/`; `test_replay_operating.py` replays all of them on today's code.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker

from activities.contract import BACKFILL_PREFIX, BACKFILL_WORKFLOW, RESUME_PREFIX, RESUME_WORKFLOW, ResumeOrder
from activities.late.start import LateStartActivities
from activities.operate import OperateActivities
from schedules.console.terminal import leave
from schedules.operating.backfill_request import request_for
from schedules.operating.follow import newest_run
from tests.integration.scenes import Scene, shell
from tests.replay.record import without_traces
from tests.servers import dev_server
from tests.step_calls import bench
from worker.app import SANDBOX
from worker.times import CALENDAR
from workflows.backfill import BackfillWorkflow
from workflows.job import JobWorkflow
from workflows.resume import ResumeWorkflow

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.client import WorkflowHandle

HISTORIES = Path(__file__).with_name("operating")
QUEUE = "tickwright"
BEGIN = datetime(2026, 11, 2, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
WORKFLOWS = (BackfillWorkflow, ResumeWorkflow)


async def backfill(scene: Scene, short: str, run: dict[str, Any], **fields: Any) -> WorkflowHandle[Any, Any]:
    """One of three hours, `rerun` among `fields` for one that starts runs by hand."""
    rerun = fields.pop("rerun", "")
    await scene.add(short, schedule={"every": "1h"}, timezone="UTC", task_queue=QUEUE, run=run, **fields)
    job = await scene.records.job(scene.id(short))
    assert job
    times = [f"{BEGIN + count * HOUR:%Y-%m-%dT%H:%M:%SZ}" for count in range(3)]
    request = request_for(job, times, interval=1.0, rerun=rerun)
    return await scene.client.start_workflow(
        BACKFILL_WORKFLOW, request, id=BACKFILL_PREFIX + scene.id(short), task_queue=QUEUE
    )


async def resume(scene: Scene, short: str, note: str) -> WorkflowHandle[Any, Any]:
    """One of a job that is paused with the note `paused`."""
    await scene.add(short, schedule={"every": "1h"}, task_queue=QUEUE)
    await scene.client.get_schedule_handle(scene.id(short)).pause(note="paused")
    at = f"{datetime.now(UTC) + timedelta(seconds=2):%Y-%m-%dT%H:%M:%SZ}"
    order = ResumeOrder(scene.id(short), note, at, "resumed")
    return await scene.client.start_workflow(
        RESUME_WORKFLOW, order, id=RESUME_PREFIX + scene.id(short), task_queue=QUEUE
    )


async def cancelled(scene: Scene) -> WorkflowHandle[Any, Any]:
    """A backfill that is cancelled in the middle of its first occurrence."""
    handle = await backfill(scene, "cancelled", shell("sleep 3"))
    job = await scene.records.job(scene.id("cancelled"))
    assert job
    while await newest_run(scene.records, job, BEGIN) is None:  # noqa: ASYNC110  the server tells nobody
        await asyncio.sleep(0.1)
    await handle.cancel()
    return handle


async def record(folder: Path) -> None:
    """Writes one file a case."""
    with dev_server() as server:
        client = await Client.connect(server.address, identity="client")
        operate = OperateActivities(client)
        late = LateStartActivities(client, CALENDAR).decide_late_start
        own: list[Callable[..., Any]] = [
            operate.look_at_occurrence,
            operate.ask_for_occurrence,
            operate.resume_schedule,
            late,
        ]
        async with (
            bench(allow_commands=True) as parts,
            Worker(
                client,
                task_queue=QUEUE,
                workflows=[JobWorkflow, *WORKFLOWS],
                activities=[*parts.activities.activities, *own],
                workflow_runner=SANDBOX,
                identity="worker",
            ),
            Scene(client, "recorded") as scene,
        ):
            runs = {
                "succeeded": await backfill(scene, "succeeded", shell("true")),
                "failed": await backfill(scene, "failed", shell("exit 3")),
                "again": await backfill(scene, "again", shell("true"), rerun="2026-11-03T08:00:00Z"),
                "side-by-side": await backfill(scene, "side", shell("sleep 2"), overlap="allow_all"),
                "cancelled": await cancelled(scene),
                "resumed": await resume(scene, "resumed", "paused"),
                "left-alone": await resume(scene, "left-alone", "paused otherwise"),
            }
            for name, run in runs.items():
                with suppress(WorkflowFailureError):
                    await run.result()
                plain = without_traces(json.loads((await run.fetch_history()).to_json()))
                text = json.dumps(plain, indent=1, sort_keys=True, ensure_ascii=False)
                (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Records for the installed version."""
    folder = HISTORIES / ".".join(version("tickwright").split(".")[:2])
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(record(folder))
    leave(0)


if __name__ == "__main__":
    main()
