"""`trigger` on a real server with a real worker."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from temporalio.client import Client

from tests.integration.operating import Diary, command, done, hourly, hours_ago, stamp, until_waiting
from tests.integration.scenes import Scene
from tests.processes import worker
from tests.servers import DevServer


async def test_a_plain_trigger_runs_the_job_now_and_exits_with_its_outcome(scene: Scene, server: DevServer) -> None:
    good = await hourly(scene, "good")
    bad = await hourly(scene, "bad", run={"command": ["sh", "-c", "echo broken >&2; exit 3"]})

    well = await done(server, "trigger", good, "--wait")
    ill = await done(server, "trigger", bad, "--wait", code=1)

    assert well["result"] == "succeeded"
    assert well["workflow_id"] == f"{good}-{well['scheduled_at']}"
    assert ill["result"] == "failed"
    assert "exit code 3: broken" in ill["reason"]


async def test_what_overlap_drops_is_told_and_what_waits_starts_behind(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary, gate = Diary(tmp_path / "diary"), tmp_path / "gate"
    job = await hourly(scene, "slow", run=diary.writing(f"while [ ! -e {gate} ]; do sleep 0.1; done"))
    first = await done(server, "trigger", job)

    dropped = await done(server, "trigger", job, code=1)
    waiting = asyncio.create_task(done(server, "trigger", job, "--overlap", "buffer_one", "--wait", timeout=90))
    await until_waiting(scene, job, 1)
    gate.touch()
    second = await waiting

    assert first["result"] == "started"
    assert dropped["result"] == "dropped"
    assert f"{first['workflow_id']} is running, and overlap is skip" in dropped["reason"]
    assert second["result"] == "succeeded"
    assert diary.times == [first["scheduled_at"], second["scheduled_at"]]


async def test_one_behind_another_that_waits_is_told_as_it_is(scene: Scene, server: DevServer, tmp_path: Path) -> None:
    """Under `buffer_one` one start waits, on V2 a second one besides."""
    diary, gate = Diary(tmp_path / "diary"), tmp_path / "gate"
    run = diary.writing(f"while [ ! -e {gate} ]; do sleep 0.1; done")
    job = await hourly(scene, "job", run=run, overlap="buffer_one")

    asked = [await command(server, "trigger", job, "--output", "json") for _ in range(4)]
    gate.touch()
    results = [json.loads(each.stdout) for each in asked]
    wanted = [each["scheduled_at"] for each in results if each["result"] in {"started", "waiting"}]
    async with asyncio.timeout(30):
        while len(diary.lines) < len(wanted):  # noqa: ASYNC110  a file tells nobody
            await asyncio.sleep(0.2)
    await asyncio.sleep(2)

    assert [each["result"] for each in results][:2] == ["started", "waiting"]
    assert [each.code for each in asked] == [int(each["result"] == "dropped") for each in results]
    assert diary.times == wanted
    assert "overlap is buffer_one" in results[-1]["reason"]


async def test_one_behind_a_run_that_is_being_cancelled_is_told_as_waiting_and_runs(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """The run does not end while no worker takes it."""
    diary = Diary(tmp_path / "diary")
    async with Scene(client, name) as scene:
        job = await hourly(scene, "job", run=diary.writing(), overlap="cancel_other")
        first = await done(server, "trigger", job)
        second = await done(server, "trigger", job)
        async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
            await scene.run("job", lambda run: run.id == second["workflow_id"] and run.closed_at is not None)

    assert (first["result"], second["result"]) == ("started", "waiting")
    assert diary.times == [second["scheduled_at"]]


async def test_each_of_several_triggers_in_one_second_gets_a_run_of_its_own(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", run=diary.writing(), overlap="allow_all")

    asked = await asyncio.gather(*(done(server, "trigger", job, "--wait", timeout=90) for _ in range(4)))

    assert [each["result"] for each in asked] == ["succeeded"] * 4
    assert sorted(each["scheduled_at"] for each in asked) == sorted(diary.times)
    assert len(set(diary.times)) == 4
    assert {each["workflow_id"] for each in asked} == {run.id for run in await scene.runs("job")}


async def test_of_several_triggers_in_one_second_each_is_told_what_became_of_it(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary, gate = Diary(tmp_path / "diary"), tmp_path / "gate"
    job = await hourly(scene, "job", run=diary.writing(f"while [ ! -e {gate} ]; do sleep 0.1; done"))

    asked = await asyncio.gather(*(command(server, "trigger", job, "--output", "json") for _ in range(3)))
    gate.touch()
    [run] = await scene.runs("job")

    results = [json.loads(each.stdout) for each in asked]
    assert sorted(each["result"] for each in results) == ["dropped", "dropped", "started"]
    assert sorted(each.code for each in asked) == [0, 1, 1]
    assert [each["workflow_id"] for each in results if each["result"] == "started"] == [run.id]
    assert all(f"{run.id} is running" in each["reason"] for each in results if each["result"] == "dropped")


async def test_an_occurrence_that_never_ran_runs_under_its_own_id_and_counts(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", run=diary.writing())
    at = stamp(hours_ago(30))

    told = await done(server, "trigger", job, "--scheduled-at", at, "--wait")
    twice = await command(server, "trigger", job, "--scheduled-at", at)
    again = await done(server, "trigger", job, "--scheduled-at", f"{job}-{at}", "--again", "--wait")
    document = await done(server, "runs", job, "--since", at, "--until", at)

    assert told["workflow_id"] == f"{job}-{at}"
    assert twice.code == 2
    assert "has already succeeded" in twice.stderr
    assert "--again" in twice.stderr
    assert again["result"] == "succeeded"
    assert diary.times == [at, at]
    plain, repeated = diary.keys
    assert plain == f"{scene.name}/test/{job}/{at}/run"
    assert repeated.startswith(f"{plain}/rerun-")
    [occurrence] = document["occurrences"]
    assert occurrence["outcome"] == "succeeded"
    assert occurrence["origin"] == "backfill"


async def test_a_failed_occurrence_runs_again_with_the_same_key(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary, broken = Diary(tmp_path / "diary"), tmp_path / "broken"
    broken.touch()
    job = await hourly(
        scene,
        "job",
        run={
            "command": {
                "argv": [f"echo x $TICKWRIGHT_IDEMPOTENCY_KEY >> {tmp_path / 'diary'}; test ! -e {broken}"],
                "shell": True,
            }
        },
    )
    at = stamp(hours_ago(3))

    failed = await done(server, "trigger", job, "--scheduled-at", at, "--wait", code=1)
    broken.unlink()
    mended = await command(server, "trigger", job, "--scheduled-at", at, "--wait")

    assert failed["result"] == "failed"
    assert mended.code == 0
    assert "ran before: failed" in mended.stderr
    assert len(diary.keys) == 2
    assert len(set(diary.keys)) == 1


async def test_set_changes_one_parameter_of_one_run_and_its_key(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    argv = ["sh", "-c", 'echo "$0 $TICKWRIGHT_IDEMPOTENCY_KEY" >> ' + str(out), "usual"]
    job = await hourly(scene, "job", run={"command": argv})

    changed = await done(server, "trigger", job, "--set", "command.argv.3={job}", "--wait")
    story = await done(server, "explain", job, changed["workflow_id"])
    await done(server, "trigger", job, "--wait")
    wrong = await command(server, "trigger", job, "--set", "http.url=x")
    unknown = await command(server, "trigger", job, "--set", "command.argw.3=x")

    (special, key), (usual, other) = (line.split() for line in out.read_text().splitlines())
    assert (special, usual) == ("{job}", "usual")
    assert "/rerun-" in key
    assert "/rerun-" not in other
    assert story["occurrence"]["origin"] == "trigger"
    assert wrong.code == unknown.code == 2
    assert "has the handler `command`" in wrong.stderr
    assert "did you mean `argv`?" in unknown.stderr


async def test_times_that_cannot_be_triggered_are_refused_with_what_to_write(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job")
    between = f"{hours_ago(2):%Y-%m-%dT%H}:17:00Z"

    refused = [
        await command(server, "trigger", job, "--scheduled-at", between),
        await command(server, "trigger", job, "--scheduled-at", stamp(hours_ago(-2))),
        await command(server, "trigger", job, "--again"),
        await command(server, "trigger", job[:-1]),
    ]

    assert [each.code for each in refused] == [2, 2, 2, 2]
    assert "nearest: " in refused[0].stderr
    assert "has not come yet" in refused[1].stderr
    assert "--scheduled-at T" in refused[2].stderr
    assert f"did you mean `{job}`?" in refused[3].stderr


async def test_a_trigger_that_no_worker_takes_is_told(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "lonely", task_queue=f"{scene.name}-nobody")
    for words in ((), ("--scheduled-at", stamp(hours_ago(2)))):
        told = await command(server, "trigger", job, *words)
        assert f"no worker polls task queue `{scene.name}-nobody`; the run waits until one does" in told.stderr
