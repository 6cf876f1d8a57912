"""`sync` and `export` with keys: turned on, rotated, turned off, and with a key that is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporalio.client import Client, Schedule, ScheduleActionStartWorkflow, ScheduleSpec

from schedules.model import ObservedSchedule
from schedules.server.codec import data_converter
from schedules.server.codec_keys import KEYS, codec_keys
from schedules.server.gateway import TemporalGateway
from tests.codec_texts import key_text
from tests.deploy import Deploy
from tests.processes import run_command, worker
from tests.servers import DevServer

SEEN = ("--deep", "--check")


OLD, NEW, OTHER = key_text("old"), key_text("new"), key_text("other")


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    deploy = Deploy(tmp_path, server.environ, name)
    deploy.job("close", description="Close the books")
    deploy.job("dunning")
    deploy.job("direct", run={"workflow": {"type": "Theirs", "direct": {}}})
    return deploy


def with_keys(deploy: Deploy, keys: str) -> Deploy:
    deploy.environ = {**deploy.environ, KEYS: keys}
    return deploy


async def changes(deploy: Deploy, *options: str) -> list[tuple[str, str, object, object]]:
    """Each field that a sync has written."""
    return [
        (change["job"].removeprefix(f"{deploy.project}-"), diff["field"], diff["before"], diff["after"])
        for change in (await deploy.sync(*options))["changes"]
        for diff in change["diff"]
    ]


async def observed(server: DevServer, schedule_id: str, keys: str) -> ObservedSchedule:
    client = await Client.connect(server.address, data_converter=data_converter(codec_keys({KEYS: keys})))
    schedule = await TemporalGateway(client).describe(schedule_id)
    assert schedule is not None
    return schedule


async def test_turning_on_rotating_and_turning_off_each_write_every_schedule_once(deploy: Deploy) -> None:
    """Without arguments and texts there is nothing to encrypt: `direct` is never written again."""
    await deploy.sync()
    for keys, before, after in (
        (OLD, "none", "key old"),
        (f"{NEW},{OLD}", "key old", "key new"),
        (f"off,{NEW}", "key new", "none"),
    ):
        with_keys(deploy, keys)
        assert await changes(deploy) == [(job, "encryption", before, after) for job in ("close", "dunning")]
        assert await changes(deploy) == []
        assert (await deploy.run(*SEEN)).code == 0, "every encryption has a fresh nonce, and the schedules are equal"


async def test_a_new_schedule_is_encrypted_at_once_and_a_change_of_it_is_shown_as_in_plain(
    deploy: Deploy, server: DevServer
) -> None:
    await with_keys(deploy, NEW).sync()
    schedule_id = f"{deploy.project}-close"
    schedule = await observed(server, schedule_id, NEW)
    assert (schedule.encryption, schedule.action.summary) == ("new", "Close the books")
    deploy.jobs[schedule_id]["run"] = {"command": ["echo", "other"]}
    field = "action.args[0].steps[0].params.argv[1]"
    assert ("close", field, "close", "other") in await changes(deploy)
    assert await changes(deploy) == []


@pytest.mark.parametrize(
    ("keys", "given", "depth"),
    [("", "none", ()), (f"off,{OTHER},{NEW}", "other, new", ("--deep",))],
)
async def test_a_schedule_whose_key_is_missing_is_refused_with_the_keys_id_and_left_as_it_is(
    deploy: Deploy, server: DevServer, keys: str, given: str, depth: tuple[str, ...]
) -> None:
    await with_keys(deploy, OLD).sync()
    schedule_id = f"{deploy.project}-close"
    before = await observed(server, schedule_id, OLD)
    done = await with_keys(deploy, keys).run("--output", "json", *depth)
    assert done.code == 1
    assert "Traceback" not in done.stderr
    failed = {each["job"]: each["error"] for each in json.loads(done.stdout)["changes"]}
    assert failed[schedule_id] == (
        f'a payload is encrypted with the key "old", which is not among the keys given ({given}); '
        "add it to TICKWRIGHT_CODEC_KEYS_FILE; or, if the key is lost, delete the schedule and sync again"
    )
    assert failed.keys() == {schedule_id, f"{deploy.project}-dunning"}, "the others go on"
    assert await observed(server, schedule_id, OLD) == before


async def test_another_key_under_the_same_id_changes_nothing(deploy: Deploy, server: DevServer) -> None:
    """List cannot tell; whoever looks closely can."""
    await with_keys(deploy, OLD).sync()
    done = await with_keys(deploy, key_text("old", "another")).run("--deep")
    assert done.code == 1
    assert 'names the key "old" cannot be decrypted with it' in done.stderr
    assert "Traceback" not in done.stderr


async def test_wrong_keys_end_every_command_before_it_connects(deploy: Deploy, tmp_path: Path) -> None:
    secret = NEW.partition(":")[2]
    env = {"TEMPORAL_ADDRESS": "127.0.0.1:1", KEYS: secret}
    for module, arguments in (("schedules.sync", ["jobs.json"]), ("schedules", ["export"]), ("worker", [])):
        deploy.write()
        ended = await run_command(module, *arguments, env=env, cwd=tmp_path)
        assert ended.code == 2, ended.stderr
        assert f"{KEYS}: entry 1: no id before a colon" in ended.stderr
        assert secret[:8] not in ended.stderr


async def test_export_reads_what_others_encrypted_and_names_the_key_that_it_lacks(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    client = await Client.connect(server.address, data_converter=data_converter(codec_keys({KEYS: OLD})))
    action = ScheduleActionStartWorkflow("Theirs", args=[{"day": "Monday"}], id=name, task_queue="theirs")
    handle = await client.create_schedule(name, Schedule(action, ScheduleSpec(cron_expressions=["0 8 * * 1-5"])))
    try:
        with_key = await run_command("schedules", "export", env={**server.environ, KEYS: f"{NEW},{OLD}"})
        without = await run_command("schedules", "export", env={**server.environ, KEYS: NEW})
    finally:
        await handle.delete()
    assert f"  {name}:" in with_key.stdout
    assert "day: Monday" in with_key.stdout
    assert name not in with_key.stderr, "nothing of it is lost"
    assert f'{name} (left out): a payload is encrypted with the key "old"' in without.stderr
    assert "Traceback" not in without.stderr


async def test_a_worker_without_the_key_is_told_before_anything_is_encrypted_with_it(
    deploy: Deploy, server: DevServer, name: str, tmp_path: Path
) -> None:
    deploy.jobs = {}
    deploy.job("close", task_queue=name)
    with_keys(deploy, f"{NEW},{OLD}")
    async with worker(server.address, cwd=tmp_path, task_queue=name, TICKWRIGHT_CODEC_KEYS=OLD):
        refused = await deploy.run("--strict")
    async with worker(server.address, cwd=tmp_path, task_queue=name, TICKWRIGHT_CODEC_KEYS=OTHER):
        unread = await deploy.run("--strict")
    keys = f"{OLD},{NEW}"
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true", TICKWRIGHT_CODEC_KEYS=keys):
        done = await deploy.run("--strict")
    assert refused.code == unread.code == 1
    assert "no key `new` in " in refused.stderr
    assert f"task queue `{name}`, with which `{name}-close` are encrypted" in refused.stderr
    assert f"the answers of the workers of task queue `{name}` cannot be read" in unread.stderr
    assert done.code == 0, done.stderr
