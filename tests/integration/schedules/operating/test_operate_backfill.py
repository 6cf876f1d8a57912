"""`backfill` on a real server with a real worker: exactly the holes, whatever happens in between."""

from __future__ import annotations

import asyncio
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.contract import BACKFILL_PREFIX
from schedules.model import Policies
from tests.integration.operating import HOUR, Diary, command, done, hourly, hours_ago, stamp, until_waiting
from tests.integration.scenes import SECOND, Scene, until
from tests.processes import started, worker
from tests.schedulers import scheduler_of
from tests.servers import DevServer


@pytest.fixture
async def scene(client: Client, name: str) -> Any:
    async with Scene(client, name) as made:
        yield made


def pod(server: DevServer, scene: Scene, folder: Path) -> Any:
    return worker(server.address, cwd=folder, task_queue=scene.name, allow_commands="true")


def hours(*ago: int) -> list[str]:
    return [stamp(hours_ago(count)) for count in ago]


async def until_lines(diary: Diary, count: int) -> None:
    async with asyncio.timeout(60):
        while len(diary.lines) < count:  # noqa: ASYNC110  a file tells nobody
            await asyncio.sleep(0.05)


async def test_missing_runs_exactly_the_holes_in_order_each_once(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", run=diary.writing())
    span = ("--from", stamp(hours_ago(8)), "--to", stamp(hours_ago(2)))
    async with pod(server, scene, tmp_path):
        for at in hours(7, 4):
            await done(server, "trigger", job, "--scheduled-at", at, "--wait")
        first = await done(server, "backfill", job, *span, "--missing", "--dry-run")
        nothing_ran = diary.times == hours(7, 4)
        result = await done(server, "backfill", job, *span, "--missing")
        once_more = await done(server, "backfill", job, *span, "--missing")
        runs = await done(server, "runs", job, "--since", stamp(hours_ago(8)), "--until", stamp(hours_ago(2)))
        told = await command(server, "explain", job, stamp(hours_ago(6)))

    assert first["occurrences"] == hours(8, 6, 5, 3, 2)
    assert 0 < first["estimated_seconds"] < 25
    assert nothing_ran
    assert (result["result"], result["succeeded"], result["failed"]) == ("completed", 5, 0)
    assert diary.times == hours(7, 4, 8, 6, 5, 3, 2)
    assert once_more == {"job": job, "result": "nothing to do", "occurrences": [], "estimated_seconds": None}
    assert {each["outcome"] for each in runs["occurrences"]} == {"succeeded"}
    if await scheduler_of(scene.client, job) == "V1":  # V2 keeps no record of who asked for a run
        assert {each["origin"] for each in runs["occurrences"]} == {"backfill"}
        assert "started by a backfill" in told.stdout


async def test_holes_newer_than_any_run_are_not_superseded_by_the_newest(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    """Nothing but the backfill's own word tells these late starts from those after an outage."""
    diary = Diary(tmp_path / "diary")
    await scene.add("job", schedule={"every": "30s"}, timezone="UTC", run=diary.writing())
    job = scene.id("job")
    async with pod(server, scene, tmp_path):
        first = await scene.ended("job")
        await done(server, "pause", job)
        await until(first.scheduled_at + 92 * SECOND)
        await done(server, "resume", job)
        holes = [stamp(first.scheduled_at + count * 30 * SECOND) for count in (1, 2, 3)]
        result = await done(server, "backfill", job, "--from", holes[0], "--to", holes[-1], "--missing")

    assert result["succeeded"] == 3
    assert diary.times[:4] == [stamp(first.scheduled_at), *holes]


async def test_killed_with_its_worker_and_its_terminal_it_runs_each_hole_once(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(
        scene, "job", run=diary.writing("sleep 1"), retry={"max_attempts": 5, "initial": "1s"}, heartbeat_timeout="5s"
    )
    words = ("backfill", job, "--from", stamp(hours_ago(8)), "--to", stamp(hours_ago(1)), "--missing")
    async with pod(server, scene, tmp_path) as first, started("schedules", *words, env=server.environ) as terminal:
        await until_lines(diary, 3)
        terminal.signal(signal.SIGKILL)
        first.signal(signal.SIGKILL)
        await first.wait()
    begun = len(diary.lines)
    async with pod(server, scene, tmp_path):
        again = await done(server, *words, timeout=120)

    assert 3 <= begun < 8
    assert again["result"] in {"completed", "nothing to do"}
    assert sorted(set(diary.times)) == hours(8, 7, 6, 5, 4, 3, 2, 1)
    assert len(set(diary.keys)) == 8
    assert len(diary.times) <= 9  # the one that was at work when its worker died may have had its effect before


async def test_terminated_in_the_middle_and_started_again_it_runs_what_is_left(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", run=diary.writing("sleep 1"))
    words = ("backfill", job, "--from", stamp(hours_ago(6)), "--to", stamp(hours_ago(1)), "--missing")
    async with pod(server, scene, tmp_path):
        began = await done(server, *words, "--no-wait")
        await until_lines(diary, 2)
        await scene.client.get_workflow_handle(BACKFILL_PREFIX + job).terminate()
        again = await done(server, *words)

    assert began["result"] == "started"
    assert again["result"] == "completed"
    assert diary.times == hours(6, 5, 4, 3, 2, 1)


async def test_it_can_be_left_followed_and_cancelled(scene: Scene, server: DevServer, tmp_path: Path) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", run=diary.writing("sleep 1"))
    words = ("backfill", job, "--from", stamp(hours_ago(9)), "--to", stamp(hours_ago(1)))
    async with pod(server, scene, tmp_path):
        async with started("schedules", *words, env=server.environ) as terminal:
            await terminal.until(lambda: [line for line in terminal.err if "1 of 9 done" in line], "no progress")
            terminal.signal(signal.SIGINT)
            code = await terminal.wait()
            left = "\n".join(terminal.out)
        async with started("schedules", "backfill", job, "--watch", env=server.environ) as watching:
            await watching.until(lambda: [line for line in watching.err if "3 of 9 done" in line], "no progress")
            cancelled = await done(server, "backfill", job, "--cancel")
            ended = await watching.wait()
        at_the_end = len(diary.lines)
        nothing = await command(server, "backfill", job, "--cancel")
        await asyncio.sleep(2)

    assert code == 1
    assert "it is still running; follow it with" in left
    assert cancelled["result"] == "cancelled"
    assert ended == 1
    assert nothing.code == 2
    assert at_the_end <= len(diary.lines) <= at_the_end + 1 < 9


async def test_no_two_runs_of_a_job_go_on_at_once_though_the_schedule_starts_some_too(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    run = {"command": ["sh", "-c", f"echo + >> {marks}; sleep 0.7; echo - >> {marks}"]}
    await scene.add("job", Policies("buffer_one", 3600), schedule={"every": "3s"}, timezone="UTC", run=run)
    job = scene.id("job")
    async with pod(server, scene, tmp_path):
        await scene.ended("job")
        begin = stamp(hours_ago(1).replace(minute=0))
        end = stamp(hours_ago(1).replace(minute=0, second=21))
        result = await done(server, "backfill", job, "--from", begin, "--to", end, "--missing", timeout=120)
        native = [each for each in await scene.runs("job") if each.started_at - each.scheduled_at < HOUR / 4]
        await done(server, "pause", job)

    lines = marks.read_text().split()
    assert result["succeeded"] == 8
    assert len(native) >= 3
    assert set(lines[::2]) == {"+"}
    assert set(lines[1::2]) == {"-"}


async def test_between_runs_that_follow_one_another_without_a_gap_it_takes_its_turn(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary = Diary(tmp_path / "diary")
    fields: dict[str, Any] = {"schedule": {"every": "1s"}, "timezone": "UTC", "run": diary.writing("sleep 1.2")}
    await scene.add("job", Policies("buffer_all", 3600), **fields)
    job, [at] = scene.id("job"), hours(1)
    async with pod(server, scene, tmp_path):
        await until_waiting(scene, job, 2)
        result = await done(server, "backfill", job, "--from", at, "--to", at)
        await done(server, "pause", job)

    assert result["succeeded"] == 1
    assert diary.times.count(at) == 1


async def test_what_was_asked_for_runs_though_a_sync_changes_the_times_meanwhile(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary, gate = Diary(tmp_path / "diary"), tmp_path / "gate"
    run = diary.writing(f"while [ ! -e {gate} ]; do sleep 0.1; done")
    job = await hourly(scene, "job", run=run)
    async with pod(server, scene, tmp_path):
        asking = asyncio.create_task(done(server, "backfill", job, "--from", hours(3)[0], "--to", hours(2)[0]))
        await scene.run("job")
        await scene.change("job", schedule={"every": "1h", "offset": "7m"}, timezone="UTC", run=run)
        gate.touch()
        result = await asking

    assert result["succeeded"] == 2
    assert diary.times == hours(3, 2)
    assert diary.keys == [f"{scene.name}/test/{job}/{at}/run" for at in hours(3, 2)]
    assert {run.id for run in await scene.runs("job")} == {f"{job}-{at}" for at in hours(3, 2)}


async def test_between_such_runs_a_repetition_takes_its_turn_too(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary = Diary(tmp_path / "diary")
    fields: dict[str, Any] = {"schedule": {"every": "1s"}, "timezone": "UTC", "run": diary.writing("sleep 1.2")}
    await scene.add("job", Policies("buffer_all", 3600), **fields)
    job, [at] = scene.id("job"), hours(1)
    async with pod(server, scene, tmp_path):
        await until_waiting(scene, job, 2)
        result = await done(server, "trigger", job, "--scheduled-at", at, "--again", "--wait")
        await done(server, "pause", job)

    assert result["result"] == "succeeded"
    assert [("/rerun-" in key) for key in diary.keys if at in key] == [True]


async def test_a_time_that_comes_due_ends_the_backfilled_run_where_the_job_says_so(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    marks, begin = tmp_path / "marks", stamp(hours_ago(1))
    script = f"trap 'echo - >> {marks}; exit' TERM; echo + >> {marks}; [ $0 != {begin} ] || sleep 60 & wait; echo - >> {marks}"
    run = {"command": ["sh", "-c", script, "{scheduled_at:%Y-%m-%dT%H:%M:%SZ}"]}
    fields: dict[str, Any] = {"schedule": {"every": "6s"}, "timezone": "UTC", "heartbeat_timeout": "5s", "run": run}
    await scene.add("job", Policies("cancel_other", 3600), **fields)
    job = scene.id("job")
    async with pod(server, scene, tmp_path):
        await scene.ended("job")
        result = await done(server, "backfill", job, "--from", begin, "--to", begin, code=1)
        await scene.run("job", lambda run: run.closed_at is not None and run.scheduled_at > hours_ago(0))
        await done(server, "pause", job)

    lines = marks.read_text().split()
    assert result["failed"] == 1
    assert result["failures"][0].startswith(f"{job}-{begin}: cancelled")
    assert lines == ["+", "-"] * (len(lines) // 2)


async def test_one_that_is_long_goes_on_in_a_new_history(start_server: Any, name: str, tmp_path: Path) -> None:
    server = start_server(config=["limit.historyCount.suggestContinueAsNew=60"])
    client = await Client.connect(server.address)
    diary = Diary(tmp_path / "diary")
    async with Scene(client, name) as scene, pod(server, scene, tmp_path):
        job = await hourly(scene, "job", run=diary.writing())
        wide = await hourly(scene, "wide", run=diary.writing(), overlap="allow_all")
        span = ("--from", stamp(hours_ago(12)), "--to", stamp(hours_ago(1)))
        result = await done(server, "backfill", job, *span, timeout=120)
        beside = await done(server, "backfill", wide, *span, timeout=120)
        parts = [each async for each in client.list_workflows(f"WorkflowId = '{BACKFILL_PREFIX}{job}'")]

    assert (result["total"], result["succeeded"]) == (12, 12)
    assert (beside["total"], beside["succeeded"]) == (12, 12)
    assert diary.times[:12] == hours(*range(12, 0, -1))
    assert sorted(diary.times[12:]) == hours(*range(12, 0, -1))
    assert len(parts) > 1


async def test_a_job_that_allows_it_runs_side_by_side(scene: Scene, server: DevServer, tmp_path: Path) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", overlap="allow_all", run=diary.writing("sleep 4"))
    async with pod(server, scene, tmp_path):
        result = await done(server, "backfill", job, "--from", stamp(hours_ago(4)), "--to", stamp(hours_ago(1)))
        runs = sorted(await scene.runs("job"), key=lambda run: run.started_at)

    assert result["succeeded"] == 4
    assert sorted(diary.times) == hours(4, 3, 2, 1)
    assert any(later.started_at < earlier.closed_at for earlier, later in pairwise(runs) if earlier.closed_at)


async def test_again_repeats_what_succeeded_with_other_keys_and_a_failure_is_told(
    scene: Scene, server: DevServer, tmp_path: Path
) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", run=diary.writing())
    bad = await hourly(scene, "bad", run={"command": ["sh", "-c", "exit 4"]})
    span = ("--from", stamp(hours_ago(2)), "--to", stamp(hours_ago(1)))
    async with pod(server, scene, tmp_path):
        await done(server, "backfill", job, *span)
        refused = await command(server, "backfill", job, *span)
        await done(server, "backfill", job, *span, "--again")
        failed = await done(server, "backfill", bad, *span, code=1)

    assert refused.code == 2
    assert "2 of these occurrences have already succeeded" in refused.stderr
    assert diary.times == hours(2, 1, 2, 1)
    assert [("/rerun-" in key) for key in diary.keys] == [False, False, True, True]
    assert failed["failed"] == 2
    assert "exit code 4" in failed["failures"][0]


async def test_starts_keep_to_the_rate(scene: Scene, server: DevServer, tmp_path: Path) -> None:
    diary = Diary(tmp_path / "diary")
    job = await hourly(scene, "job", run=diary.writing())
    async with pod(server, scene, tmp_path):
        await done(
            server, "backfill", job, "--from", stamp(hours_ago(3)), "--to", stamp(hours_ago(1)), "--max-rate", "20/m"
        )
        runs = sorted(await scene.runs("job"), key=lambda run: run.started_at)

    gaps = [(after.started_at - before.started_at).total_seconds() for before, after in pairwise(runs)]
    assert len(gaps) == 2
    assert all(gap > 2.5 for gap in gaps)


async def test_wrong_calls_are_refused_with_what_to_write(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job")
    calls: list[tuple[tuple[str, ...], str]] = [
        ((), "--from"),
        (("--from", "5h", "--to", "9h"), "is after"),
        (("--from", "2h", "--missing", "--again"), "write one of them"),
        (("--from", "2h", "--max-rate", "5"), "30/m"),
        (("--from", "20d"), "480 occurrences would run; nothing was started. Add --yes to run them"),
        (("--from", "500d"), "more than 10,000"),
        (("--from", "2h", "--watch"), "leave out --from"),
        (("--watch",), "there is no backfill"),
    ]
    for words, told in calls:
        refused = await command(server, "backfill", job, *words)
        assert refused.code == 2, (words, refused)
        assert told in refused.stderr


async def test_what_is_older_than_the_namespace_keeps_is_left_out(scene: Scene, server: DevServer) -> None:
    """It keeps a day; the schedule is new, and another one of its name may have been there."""
    job = await hourly(scene, "job")
    planned = await done(server, "backfill", job, "--from", "20d", "--missing", "--dry-run")
    assert 23 <= len(planned["occurrences"]) <= 24


async def test_a_backfill_that_no_worker_has_can_be_taken_back(scene: Scene, server: DevServer) -> None:
    job = await hourly(scene, "job", task_queue=f"{scene.name}-nobody")
    words = ("backfill", job, "--from", "3h", "--missing", "--no-wait")
    await done(server, *words)
    again = await command(server, *words)
    cancelled = await done(server, "backfill", job, "--cancel")
    nothing = await command(server, "backfill", job, "--cancel")
    await done(server, *words)

    assert (again.code, "is already running" in again.stderr) == (1, True)
    assert cancelled["result"] == "cancelled"
    assert (nothing.code, "no backfill of" in nothing.stderr) == (2, True)
    await done(server, "backfill", job, "--cancel")
