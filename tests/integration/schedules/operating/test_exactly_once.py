"""Every occurrence that is asked for runs exactly once, under its own id and key: on V1, on V2, and while schedules move to V2.

OPERATE_TIMES is how many occurrences each way of asking is tried with; 50 is the full measure.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from temporalio.client import Client

from tests.integration.operating import Diary, done, hourly, hours_ago, stamp
from tests.integration.scenes import SECOND, Scene, now, until
from tests.processes import worker
from tests.schedulers import BEFORE_MOVE, MOVING, MOVING_IN_A_RUN, move, scheduler_of
from tests.servers import DevServer, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TIMES = int(os.environ.get("OPERATE_TIMES", "4"))
PATIENCE = 60.0 + 10.0 * TIMES
pytestmark = pytest.mark.timeout(240 + 60 * TIMES)


async def check(scene: Scene, diary: Diary, asked: dict[str, Sequence[str]]) -> None:
    """By job, the times that were asked for: what ran, with which keys, and the ids of the runs on the server."""
    wanted = {f"{scene.name}/test/{job}/{at}/run" for job, times in asked.items() for at in times}
    assert Counter(diary.keys) == Counter(wanted)
    for job, times in asked.items():
        query = f"WorkflowType = 'JobWorkflow' AND WorkflowId BETWEEN '{job}-1' AND '{job}-3'"
        ids: Counter[str] = Counter()
        async with asyncio.timeout(60):
            while ids.total() < len(times):
                ids = Counter([run.id async for run in scene.client.list_workflows(query)])
        assert ids == Counter(f"{job}-{at}" for at in times)


async def test_trigger_of_one_occurrence(scene: Scene, server: DevServer, tmp_path: Path) -> None:
    diary = Diary(tmp_path / "diary")
    jobs = [await hourly(scene, short, run=diary.writing()) for short in ("a", "b")]
    times = [stamp(hours_ago(count + 2)) for count in range(TIMES)]

    async def one(job: str) -> None:
        for at in times:
            told = await done(server, "trigger", job, "--scheduled-at", at, "--wait")
            assert (told["workflow_id"], told["result"]) == (f"{job}-{at}", "succeeded")

    await asyncio.gather(*map(one, jobs))

    await check(scene, diary, dict.fromkeys(jobs, times))


@pytest.mark.parametrize("overlap", ["skip", "allow_all"])
async def test_backfill_of_a_span_and_of_its_holes(
    scene: Scene, server: DevServer, tmp_path: Path, overlap: str
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", run=diary.writing(), overlap=overlap, jitter="10m")
    some, rest = ([stamp(hours_ago(count + add)) for count in range(TIMES)] for add in (2, TIMES + 2))

    first = await done(server, "backfill", job, "--from", some[-1], "--to", some[0], timeout=PATIENCE)
    whole = ("--from", rest[-1], "--to", some[0], "--missing")
    holes = await done(server, "backfill", job, *whole, timeout=PATIENCE)

    assert (first["succeeded"], holes["succeeded"]) == (TIMES, TIMES)
    await check(scene, diary, {job: some + rest})


@pytest.mark.parametrize("catchup", ["run_latest", "run_all"])
async def test_a_resume_makes_up_for_its_pause(scene: Scene, server: DevServer, tmp_path: Path, catchup: str) -> None:
    """A job of every second, paused for so long; each time before and after the pause runs by itself."""
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", schedule={"every": "1s"}, run=diary.writing(), overlap="allow_all")
    await scene.ended("job")
    await done(server, "pause", job)
    begin = now()
    await until(begin + TIMES * SECOND)
    resumed = (await done(server, "resume", job, "--catchup", catchup))["jobs"][0]
    made_up, note = resumed["backfilled"], resumed["note"]
    await done(server, "backfill", job, "--watch", timeout=PATIENCE)
    await done(server, "pause", job)

    async with asyncio.timeout(60):
        while any(run.closed_at is None for run in await scene.runs("job")):  # noqa: ASYNC110  the server tells nobody
            await asyncio.sleep(0.2)
    runs = {stamp(run.scheduled_at): run for run in await scene.runs("job")}
    ran = [at for at, run in runs.items() if run.verdict == "succeeded"]
    assert Counter(diary.times) == Counter(ran)
    assert set(made_up) <= set(ran)
    paused = {stamp(begin.replace(microsecond=0) + count * SECOND) for count in range(1, TIMES)}
    if catchup == "run_all":
        assert paused <= set(made_up)
        first, last = min(map(_at, runs.values())), max(map(_at, runs.values()))
        every = [stamp(first + count * SECOND) for count in range((last - first) // SECOND + 1)]
        assert [at for at in every if at not in runs] == [], (made_up, note)
    else:
        assert len(made_up) == 1
        assert not (paused - set(made_up)) & set(ran)


def _at(run: Any) -> Any:
    return run.scheduled_at


@pytest.mark.parametrize("settings", [MOVING, MOVING_IN_A_RUN], ids=["at rest", "in a run"])
async def test_while_schedules_move(
    start_server: Callable[..., DevServer], name: str, tmp_path: Path, settings: Sequence[str]
) -> None:
    """As many jobs as there are tries: each moves once, while its occurrences are asked for."""
    place = {"database": tmp_path / "temporal.db", "port": free_port()}
    diary = Diary(tmp_path / "diary")
    before = start_server(**place, config=BEFORE_MOVE)
    scene = Scene(await Client.connect(before.address), name)
    jobs = [await hourly(scene, f"j{count:02}", run=diary.writing("sleep 0.2")) for count in range(TIMES)]
    before.stop()
    server = start_server(**place, config=settings)
    scene = Scene(await Client.connect(server.address), name)
    times = [stamp(hours_ago(count)) for count in (6, 5, 4, 3)]
    turns = asyncio.Semaphore(4)

    async def one(number: int, job: str) -> None:
        async with turns:
            words = ("--from", times[0], "--to", times[2], "--missing")
            asking = asyncio.create_task(done(server, "backfill", job, *words, timeout=120))
            if number % 2:
                await move(scene.client, job)
            assert (await asking)["succeeded"] == 3
            told = await done(server, "trigger", job, "--scheduled-at", times[3], "--wait", timeout=120)
            assert told["result"] == "succeeded"

    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
        await asyncio.gather(*(one(number, job) for number, job in enumerate(jobs)))

        assert {await scheduler_of(scene.client, job) for job in jobs} == {"V2"}
        await check(scene, diary, dict.fromkeys(jobs, times))
