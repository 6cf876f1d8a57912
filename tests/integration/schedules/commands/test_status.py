"""`status`, `runs` and `forecast` as commands, on a real server."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from tests.integration.scenes import SECOND, Scene, now, shell, until
from tests.processes import ROOT, run_command, started, worker
from tests.servers import DevServer, free_port

HOSTILE = "[bold red]x[/] <script>alert('1')</script> \"quoted\" \n\r\t\x1b[31m 🎉 \u202e " + "n" * 900
SPEC = """\
version: 1
project: {project}
defaults: {{timezone: Europe/Berlin, timeout: 1m}}
environments: {{test: {{}}}}
jobs:
  {project}-good: {{schedule: {{every: 2s}}, run: {{command: ["true"]}}, labels: {{team: ledger}}}}
  {project}-absent: {{schedule: "0 8 * * *", run: {{command: ["true"]}}, labels: {{team: ledger}}}}
  {project}-resting: {{schedule: {{every: 2s}}, run: {{command: ["true"]}}}}
"""


async def json_of(server: DevServer, *words: str) -> Any:
    """The document of a command that succeeds."""
    done = await run_command("schedules", *words, "--output", "json", env=server.environ)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)


async def between_runs(server: DevServer, job: str, *words: str) -> Any:
    """The same at a moment at which no run of that job goes on."""
    while True:
        document = await json_of(server, *words)
        if "running" not in {each["state"] for each in document["jobs"] if each["job"] == job}:
            return document


async def test_each_state_is_seen_by_status(scene: Scene, server: DevServer, tmp_path: Path) -> None:
    await scene.add("good")
    await scene.add("fails", run=shell("echo broken >&2; exit 3"))
    await scene.add("slow", run={"command": ["sleep", "600"]}, timeout="11m")
    await scene.add("lonely", task_queue=f"{scene.name}-nobody")
    await scene.add("resting")
    await scene.add("yearly", schedule="@yearly")
    await scene.ended("resting")
    await scene.client.get_schedule_handle(scene.id("resting")).pause(note=HOSTILE)
    paused = now()
    await scene.run("fails", lambda run: run.closed_at is not None)
    lonely, slow = await scene.run("lonely"), await scene.run("slow")
    await until(max(lonely.started_at, paused, slow.started_at) + 13 * SECOND)
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC.format(project=scene.name))

    document = await between_runs(server, scene.id("good"), "status", "--owner", f"{scene.name}/test")
    ledger = ("status", str(spec), "--env", "test", "--label", "team=ledger")
    narrow = await between_runs(server, scene.id("good"), *ledger)
    text = await run_command(
        "schedules", "status", "--job", f"{scene.name}-*", env={**server.environ, "COLUMNS": "120"}
    )

    jobs = {each["job"].removeprefix(f"{scene.name}-"): each for each in document["jobs"]}
    words = ("schedules", "status", "--owner", f"{scene.name}/test", "--fail-on")
    codes = [(await run_command(*words, states, env=server.environ)).code for states in ("unknown", "late,failing")]
    assert codes == [0, 4]
    without_files = await run_command(*words, "late,missing", env=server.environ)
    assert without_files.code == 2
    assert "--fail-on missing: " in without_files.stderr
    absent = ("schedules", *ledger, "--fail-on", "missing")
    assert (await run_command(*absent, env=server.environ)).code == 4
    assert {short: each["state"] for short, each in jobs.items()} == {
        "good": "ok",
        "fails": "failing",
        "slow": "running",
        "lonely": "late",
        "resting": "paused",
        "yearly": "never_ran",
    }
    assert [each["state"] for each in document["jobs"]][:3] == ["failing", "late", "paused"]
    assert "exit code 3: broken" in jobs["fails"]["why"]
    assert jobs["fails"]["consecutive_failures"] >= 5
    assert jobs["lonely"]["overdue"] == f"{lonely.scheduled_at:%Y-%m-%dT%H:%M:%SZ}"
    assert jobs["lonely"]["skipped"] >= 5
    assert jobs["slow"]["running"][0]["workflow_id"] == slow.id
    assert jobs["good"]["missed"] == jobs["resting"]["missed"] == jobs["yearly"]["missed"] == 0
    assert "@" in jobs["resting"]["paused_by"]
    assert abs(seconds(jobs["resting"]["paused_at"]) - paused.timestamp()) < 60
    assert jobs["resting"]["note"] == HOSTILE
    assert {each["job"]: each["state"] for each in narrow["jobs"]} == {
        f"{scene.name}-absent": "missing",
        f"{scene.name}-good": "ok",
    }
    assert text.code == 0
    assert "\x1b" not in text.stdout
    assert "[bold red]x[/] <script>" in text.stdout.replace("\n", "") or "[bold" in text.stdout
    assert max(map(len, text.stdout.splitlines())) <= 120


def seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


async def test_runs_tell_what_ran_and_what_did_not(scene: Scene, server: DevServer) -> None:
    await scene.add("slow", run={"command": ["sleep", "7"]})
    first = await scene.run("slow")
    second = await scene.run("slow", lambda run: run.scheduled_at > first.scheduled_at)
    await until(second.started_at + SECOND)

    document = await json_of(server, "runs", scene.id("slow"))
    only = await json_of(server, "runs", scene.id("slow"), "--outcome", "overlap_skipped")
    text = await run_command("schedules", "runs", scene.id("slow"), env=server.environ)

    outcomes = [each["outcome"] for each in document["occurrences"]]
    assert outcomes[:2] == ["succeeded", "overlap_skipped"]
    assert "running" in outcomes
    assert document["occurrences"][0]["run"]["attempts"] == 1
    assert document["occurrences"][0]["run"]["duration"] >= 7
    assert {each["outcome"] for each in only["occurrences"]} == {"overlap_skipped"}
    assert f"no run: another occurrence was running ({first.id})" in text.stdout


async def test_a_forecast_counts_what_starts_and_what_a_window_would_lose(scene: Scene, server: DevServer) -> None:
    await scene.add("quarter", schedule="*/15 * * * *")
    await scene.add("hourly", schedule="0 * * * *")
    await scene.add("resting", schedule="0 * * * *", paused=True)

    day = (now() + timedelta(days=2)).date()
    document = await json_of(
        server, "forecast", "--owner", f"{scene.name}/test", "--at", f"{day}T10:00Z", "--for", "2h"
    )

    assert (document["from"], document["to"], document["starts"]) == (f"{day}T10:00:00Z", f"{day}T12:00:00Z", 10)
    jobs = {each["job"].removeprefix(f"{scene.name}-"): each for each in document["jobs"]}
    assert {short: each["starts"] for short, each in jobs.items()} == {"quarter": 8, "hourly": 2}
    assert document["crowded"] == [{"minute": f"{day}T{hour}:00:00Z", "starts": 2} for hour in (10, 11)]
    assert [each["job"] for each in document["paused"]] == [scene.id("resting")]
    quarter = jobs["quarter"]["effect"]
    assert len(quarter["late"]) + quarter["not_run"] + quarter["too_late"] == 8


async def test_watch_shows_the_table_until_interrupted(scene: Scene, server: DevServer) -> None:
    await scene.add("good")
    words = ("status", "--owner", f"{scene.name}/test", "--watch", "1")
    async with started("schedules", *words, env=server.environ) as watching:
        await watching.until(lambda: "".join(watching.out).count(scene.id("good")) > 1, "no second table")
        watching.process.terminate()
        assert await watching.wait() == 128 + 15


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["runs", "relai"], "there is no job `relai` in the namespace"),
        (["explain", "relai", "02:00"], "there is no job `relai`"),
        (["runs", "x", "--outcome", "suceeded"], "did you mean `succeeded`?"),
        (["status", "--since", "yesterday"], 'yesterday" is not a time; write 24h'),
        (["status", "--owner", "billing"], "write project/environment"),
        (["status", "--label", "team=a"], "write their PATH"),
        (["status", "--env", "prod"], "--env: environments are in the spec files; write their PATH, too"),
        (["status", "--watch", "--output", "json"], "--watch does not go with --output json"),
        (["forecast", "--for", "90d"], "up to 35d"),
    ],
)
async def test_a_wrong_command_line_is_told_with_what_to_write(server: DevServer, words: list[str], said: str) -> None:
    done = await run_command("schedules", *words, env=server.environ)
    assert done.code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["status"], ["runs", "x"], ["explain", "x", "02:00"], ["forecast"]])
async def test_a_server_that_cannot_be_reached_is_exit_code_1(words: list[str]) -> None:
    env = {"TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}"}
    done = await run_command("schedules", *words, "--output", "json", env=env)
    assert done.code == 1
    assert "cannot reach Temporal" in json.loads(done.stdout)["error"]


OWN = """
from temporalio import workflow
from temporalio.exceptions import ApplicationError

@workflow.defn
class Own:
    @workflow.run
    async def run(self, how: str) -> object:
        if how == "fail":
            raise ApplicationError("nobody approved", {"outcome": 3}, non_retryable=True)
        return {"outcome": "fine"} if how == "mapping" else how
"""
CODEC_KEYS = f"one:{base64.b64encode(bytes(32)).decode()}"


async def test_what_workflows_of_ones_own_end_with_is_no_trouble_with_the_keys_or_without(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    """They return and raise what they like; whose key is missing, that is told in the place of the reason."""
    (tmp_path / "own.py").write_text(OWN)
    ends = ["text", "mapping", "fail"]
    settings = {"PYTHONPATH": f"{ROOT}:{tmp_path}", "TICKWRIGHT_CODEC_KEYS": CODEC_KEYS}
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, modules="own", **settings),
        Scene(client, name) as scene,
    ):
        for how in ends:
            await scene.add(how, run={"workflow": {"type": "Own", "args": [how], "direct": {}}})
        failed = [await scene.ended(how) for how in ends][-1]
        for keys, said in ({"TICKWRIGHT_CODEC_KEYS": CODEC_KEYS}, "nobody approved"), ({}, "encrypted with the key"):
            env = {**server.environ, **keys}
            for command in (
                ["status", "--owner", f"{name}/test"],
                ["runs", scene.id("mapping")],
                ["explain", scene.id("fail"), failed.id],
                ["runs", scene.id("fail"), "--outcome", "failed"],
            ):
                done = await run_command("schedules", *command, "--output", "json", env=env)
                assert done.code == 0, done.stderr
            reasons = [each["reason"] for each in json.loads(done.stdout)["occurrences"]]
            assert reasons
            assert all(said in reason for reason in reasons)


async def test_what_waits_in_a_queue_is_neither_missed_nor_left_out(scene: Scene, server: DevServer) -> None:
    """The server's own count says how many wait; after a while the run that a start met has ended long ago."""
    await scene.add("queues", overlap="buffer_all", run={"command": ["sleep", "5"]}, timeout="1m")
    second = await scene.run("queues", lambda run: run.started_at - run.scheduled_at > 2 * SECOND)
    await until(second.started_at + 4 * SECOND)
    job = await scene.records.job(scene.id("queues"))
    document = await json_of(server, "runs", scene.id("queues"))
    state = (await json_of(server, "status", "--job", scene.id("queues")))["jobs"][0]
    backfill = await json_of(server, "backfill", scene.id("queues"), "--from", "1h", "--missing", "--dry-run")

    assert job
    assert job.waiting >= 2
    assert job.skipped == 0
    outcomes = [each["outcome"] for each in document["occurrences"] if each["outcome"] != "before_creation"]
    assert outcomes.count("buffered") >= job.waiting - 1
    assert set(outcomes) <= {"succeeded", "running", "buffered", "due", "not_yet_due"}
    assert (state["missed"], state["skipped"]) == (0, 0)
    created = job.created_at
    assert created
    assert [each for each in backfill["occurrences"] if seconds(each) > created.timestamp()] == []


async def test_a_run_that_its_overlap_policy_ended_is_no_failure(scene: Scene, server: DevServer) -> None:
    await scene.add("replaces", overlap="terminate_other", run={"command": ["sleep", "30"]}, timeout="1m")
    ended = await scene.run("replaces", lambda run: run.status == "terminated")
    await until(ended.started_at + 5 * SECOND)
    state = (await json_of(server, "status", "--job", scene.id("replaces")))["jobs"][0]

    assert (state["state"], state["last_outcome"], state["consecutive_failures"]) == ("running", "cancelled", 0)


async def test_a_deleted_job_is_told_of_by_its_runs(scene: Scene, server: DevServer) -> None:
    await scene.add("gone")
    run = await scene.ended("gone")
    await scene.client.get_schedule_handle(scene.id("gone")).delete()
    told = await run_command("schedules", "runs", scene.id("gone"), "--since", "1h", env=server.environ)
    story = await json_of(server, "explain", scene.id("gone"), run.id)
    never = await run_command("schedules", "runs", scene.id("never"), env=server.environ)

    assert (told.code, "has been deleted; this comes from the runs" in told.stderr) == (0, True)
    assert "succeeded" in told.stdout
    assert (story["occurrence"]["outcome"], story["due"]) == ("succeeded", "due")
    assert (never.code, "there is no job" in never.stderr) == (2, True)


async def test_a_selection_that_means_nothing_is_refused_with_near_names(scene: Scene, server: DevServer) -> None:
    await scene.add("good")
    near = scene.id("goood")
    for words, told in (
        (("status", "--job", near), f"did you mean `{scene.id('good')}`?"),
        (("forecast", "--job", near), f"did you mean `{scene.id('good')}`?"),
        (("status", "--job", "zz*"), "no job has such a name"),
        (("status", "--owner", f"{scene.name}/tst"), f"did you mean `{scene.name}/test`?"),
    ):
        refused = await run_command("schedules", *words, env=server.environ)
        assert (refused.code, told in refused.stderr) == (2, True), refused


async def test_a_closed_standard_output_is_told(scene: Scene, server: DevServer) -> None:
    line = f"{sys.executable} -m schedules status --job '{scene.id('*')}' >&-"
    await scene.add("good")
    process = await asyncio.create_subprocess_shell(
        line, stderr=asyncio.subprocess.PIPE, env={**os.environ, **server.environ}, cwd=ROOT
    )
    _, errors = await process.communicate()
    assert (process.returncode, errors) == (1, b"cannot write to standard output: Bad file descriptor\n")
