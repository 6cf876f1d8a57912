"""Starts that waited while their schedule moved to V2: the workflow ids of all but the first carry a number."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio.api.enums.v1 import ScheduleOverlapPolicy
from temporalio.api.schedule.v1 import BackfillRequest, SchedulePatch
from temporalio.api.workflowservice.v1 import PatchScheduleRequest
from temporalio.client import Client

from tests.integration.operating import Diary, command, done, hourly, hours_ago, stamp, until_waiting
from tests.integration.scenes import Scene
from tests.processes import worker
from tests.schedulers import BEFORE_MOVE, MOVING_IN_A_RUN, move
from tests.servers import DevServer, free_port

if TYPE_CHECKING:
    from collections.abc import Callable


async def test_they_are_the_occurrences_and_do_not_run_again(
    start_server: Callable[..., DevServer], name: str, tmp_path: Path
) -> None:
    place = {"database": tmp_path / "temporal.db", "port": free_port()}
    diary, times = Diary(tmp_path / "diary"), [stamp(hours_ago(count)) for count in (6, 5, 4, 3)]
    before = start_server(**place, config=BEFORE_MOVE)
    scene = Scene(await Client.connect(before.address), name)
    job = await hourly(scene, "job", run=diary.writing())
    await _ask_for_all(scene, job)
    before.stop()
    server = start_server(**place, config=MOVING_IN_A_RUN)
    scene = Scene(await Client.connect(server.address), name)
    await move(scene.client, job)
    span = ("--from", times[0], "--to", times[-1])
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        async with asyncio.timeout(60):
            while len([run for run in await scene.runs("job") if run.closed_at]) < len(times):  # noqa: ASYNC110  nobody tells
                await asyncio.sleep(0.2)
        holes = await done(server, "backfill", job, *span, "--missing")
        again = await command(server, "trigger", job, "--scheduled-at", times[2])
        told = await done(server, "runs", job, "--since", times[0], "--until", times[-1])
        story = await done(server, "explain", job, times[3])

    ids = sorted(run.id for run in await scene.runs("job"))
    assert ids == [f"{job}-{times[0]}", f"{job}-{times[1]}", f"{job}-{times[2]}-1", f"{job}-{times[3]}-2"]
    assert sorted(diary.keys) == [f"{name}/test/{job}/{at}/run" for at in times]
    assert [(each["scheduled_at"], each["outcome"]) for each in told["occurrences"]] == [
        (at, "succeeded") for at in times
    ]
    assert holes["result"] == "nothing to do"
    assert (again.code, "has already succeeded" in again.stderr) == (2, True)
    assert story["occurrence"]["outcome"] == "succeeded"


async def _ask_for_all(scene: Scene, job: str) -> None:
    """The first one runs, which no worker takes, and the others wait for it."""
    policy = ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL
    asked = BackfillRequest(overlap_policy=policy)
    asked.start_time.FromDatetime(hours_ago(6))
    asked.end_time.FromDatetime(hours_ago(3))
    patch = SchedulePatch(backfill_request=[asked])
    request = PatchScheduleRequest(namespace=scene.client.namespace, schedule_id=job, patch=patch)
    await scene.client.workflow_service.patch_schedule(request)
    await until_waiting(scene, job, 3)
