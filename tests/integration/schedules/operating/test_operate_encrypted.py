"""Operating commands where every payload is encrypted."""

from __future__ import annotations

from pathlib import Path

from temporalio.client import Client

from schedules.server.codec import data_converter
from schedules.server.codec_keys import KEYS, codec_keys
from tests.codec_texts import key_text
from tests.integration.operating import Diary, hourly, hours_ago, stamp
from tests.integration.scenes import Scene
from tests.processes import run_command, worker
from tests.servers import DevServer


async def test_runs_are_asked_for_repeated_and_changed_with_encrypted_requests(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    keys = {KEYS: key_text("own")}
    client = await Client.connect(server.address, data_converter=data_converter(codec_keys(keys)))
    diary, at = Diary(tmp_path / "diary"), stamp(hours_ago(2))
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true", **keys),
        Scene(client, name) as scene,
    ):
        job = await hourly(scene, "job", run=diary.writing())
        calls = [
            ("backfill", job, "--from", at, "--to", at),
            ("trigger", job, "--scheduled-at", at, "--again", "--wait"),
            ("trigger", job, "--set", f"command.argv.0=echo other key >> {tmp_path / 'other'}", "--wait"),
            ("pause", job, "--until", "1h"),
            ("resume", job),
        ]
        done = [await run_command("schedules", *call, env={**server.environ, **keys}) for call in calls]
        unknown = await run_command("schedules", "trigger", job, "--set", "command.argv.0=x", env=server.environ)

    assert [each.code for each in done] == [0] * 5, done
    assert diary.times == [at, at]
    assert "/rerun-" in diary.keys[1]
    assert (tmp_path / "other").read_text() == "other key\n"
    assert unknown.code == 2
    assert "a key that is missing here" in unknown.stderr
