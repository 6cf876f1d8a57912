"""What is known of a pause once it has ended, and what becomes of its times when the spec changes meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path

from activities.note import MOVING
from schedules.notes import MakeUp, resume_note
from schedules.operating.writes import Writes
from tests.integration.operating import Diary, command, done, hourly, stamp
from tests.integration.scenes import SECOND, Scene, now, until
from tests.schedulers import scheduler_of
from tests.servers import DevServer


async def test_times_of_a_pause_that_has_ended_are_told_as_such(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job", schedule={"every": "2s"})
    await scene.ended("job")
    await done(server, "pause", job)
    paused = now()
    await until(paused + 6 * SECOND)
    resuming = now()
    await done(server, "resume", job)
    document = await done(server, "runs", job, "--since", stamp(paused), "--until", stamp(resuming))
    await done(server, "pause", job)

    within = [each for each in document["occurrences"] if stamp(paused) < each["scheduled_at"] < stamp(resuming)]
    assert len(within) >= 2
    assert {each["outcome"] for each in within} == {"paused"}


async def test_a_resume_that_is_asked_again_makes_up_by_the_times_that_the_pause_had(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    """A sync gave the schedule other times in between; V2 does not tell those of before."""
    diary = Diary(tmp_path / "diary")
    fields = {"timezone": "UTC", "run": diary.writing()}
    job = await hourly(scene, "job", schedule={"every": "3s"}, **fields)
    await scene.ended("job")
    await done(server, "pause", job)
    paused = now()
    await until(paused + 7 * SECOND)
    resumed = now()
    note = resume_note("ann", resumed, "", MakeUp(paused, resumed, "run_all"))
    await Writes(scene.client).unpause(job, note)
    await scene.change("job", schedule={"every": "1h"}, **fields)
    ran = list(diary.times)
    made_up = (await done(server, "resume", job, "--catchup", "run_all"))["jobs"][0]["backfilled"]
    async with asyncio.timeout(30):
        while not set(made_up) <= set(diary.times):  # noqa: ASYNC110  a file tells nobody
            await asyncio.sleep(0.1)

    by_then = [
        stamp(paused + count * SECOND) for count in range(1, 7) if int((paused + count * SECOND).timestamp()) % 3 == 0
    ]
    if await scheduler_of(scene.client, job) == "V1":
        assert set(by_then) <= set(made_up)
    assert sorted(diary.times) == sorted({*ran, *made_up})


async def test_a_pause_by_which_temporal_moves_a_schedule_is_no_operators(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job")
    await scene.client.get_schedule_handle(job).pause(note=MOVING)

    [state] = (await done(server, "status", "--owner", f"{scene.name}/test"))["jobs"]
    refused = await command(server, "resume", job)

    assert (state["paused"], state["state"]) == (False, "never_ran")
    assert (refused.code, "other scheduler" in refused.stdout) == (1, True)
    assert (await scene.client.get_schedule_handle(job).describe()).schedule.state.paused
