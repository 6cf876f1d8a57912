"""`tickwright claim`: the old line and the schedule are both live, and each occurrence is done once, by one of them.

CLAIM_OCCURRENCES says for how many occurrences the two sides race.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from activities.contract import ClaimEnding
from schedules.errors import UnreachableError
from schedules.operating.claim import claimed, record
from tests.integration.scenes import Scene, shell
from tests.processes import run_command
from tests.servers import free_port

if TYPE_CHECKING:
    from pathlib import Path

    from temporalio.client import Client

    from tests.servers import DevServer

OCCURRENCES = int(os.environ.get("CLAIM_OCCURRENCES", "40"))
JOBS = 4


async def occurrences(server: DevServer, job: str) -> list[dict[str, Any]]:
    answer = await run_command("schedules", "runs", job, "--since", "1h", "--output", "json", env=server.environ)
    found: list[dict[str, Any]] = json.loads(answer.stdout)["occurrences"]
    return found


async def claim(server: DevServer, job: str, *words: str, **options: Any) -> Any:
    return await run_command("schedules", "claim", job, *words, env=server.environ, **options)


async def test_a_claimed_occurrence_is_a_run_with_outcome_duration_and_output(
    scene: Scene, server: DevServer, client: Client
) -> None:
    await scene.add("report", schedule={"every": "1h"}, run=shell("true"))
    job = scene.id("report")
    [at] = [datetime.now(UTC).replace(minute=0, second=0, microsecond=0)]

    first = await claim(server, job, "--", "sh", "-c", "echo out; echo err >&2; sleep 0.2; exit 3")
    second = await claim(server, job, "--", "touch", "ran-twice")

    assert (first.code, first.stdout) == (3, "out\n")
    assert first.stderr.endswith("err\n")
    assert second.code == 0
    assert second.stderr.strip() == f"{job}-{at:%Y-%m-%dT%H:%M:%SZ} has already started elsewhere; nothing was run"
    [run] = [each for each in await occurrences(server, job) if each["outcome"] != "before_creation"]
    assert run["outcome"] == "failed"
    assert run["reason"] == "the claimed command ended with exit code 3: err"
    assert run["run"]["duration"] >= 0.2


class OldSide:
    """The old lines of several jobs, each on two machines: at each time they claim it, and do the work if it is theirs."""

    def __init__(self, scene: Scene, client: Client) -> None:
        self._scene, self._client = scene, client
        self.done: Counter[tuple[str, int]] = Counter()

    async def run(self, names: list[str], times: list[datetime]) -> None:
        await asyncio.gather(*(self._one(name, at) for name in names for at in times for _ in "ab"))

    async def _one(self, name: str, at: datetime) -> None:
        behind = timedelta(seconds=random.choice((0.0, 0.1, 2.0)))  # clocks of machines differ
        await asyncio.sleep(max(0.0, (at + behind - datetime.now(UTC)).total_seconds()))
        while True:
            try:
                run = await claimed(self._client, self._scene.id(name), at.isoformat(), datetime.now(UTC))
            except UnreachableError:  # on a busy machine
                continue
            break
        if not isinstance(run, str):
            self.done[name, int(at.timestamp())] += 1
            assert await record(run, ClaimEnding(0))


async def test_both_sides_race_and_each_occurrence_is_done_once(scene: Scene, client: Client, tmp_path: Path) -> None:
    """The schedules go from shadow to live in the middle, and write a line for each time that they do the work of."""
    names, old = [f"race-{number}" for number in range(JOBS)], OldSide(scene, client)
    all_of_them = {"policy": "run_all", "max_missed": 500}
    fields: dict[str, Any] = {
        "schedule": {"every": "1s"},
        "overlap": "allow_all",
        "timeout": "1m",
        "catchup": all_of_them,
    }
    lines = {name: shell("echo {scheduled_at:%s} >> " + name) for name in names}
    for name in names:
        await scene.add(name, **fields, run=lines[name], mode="shadow")
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=3)
    times = [start + timedelta(seconds=offset) for offset in range(OCCURRENCES // JOBS)]
    wanted = {(name, int(at.timestamp())) for name in names for at in times}

    async def go_live() -> None:
        await asyncio.sleep((times[len(times) // 3] - datetime.now(UTC)).total_seconds())
        for name in names:
            await scene.change(name, **fields, run=lines[name])

    await asyncio.gather(old.run(names, times), go_live())
    while len((old.done.keys() | written(tmp_path, names).keys()) & wanted) < len(wanted):  # noqa: ASYNC110
        await asyncio.sleep(0.2)
    await asyncio.sleep(3)  # whoever would do one a second time has had the time for it
    claims, schedules = old.done, written(tmp_path, names)
    print(f"{len(wanted)} occurrences: {claims.total()} done by the old side, {schedules.total()} by the schedules")

    assert {key: count for key, count in (claims + schedules).items() if key in wanted} == dict.fromkeys(wanted, 1)


def written(folder: Path, names: list[str]) -> Counter[tuple[str, int]]:
    """What the schedule's runs have done."""
    files = [(name, folder / name) for name in names if (folder / name).exists()]
    return Counter((name, int(line)) for name, path in files for line in path.read_text().split())


async def test_without_a_server_it_skips_or_runs_as_it_was_told(tmp_path: Path) -> None:
    env = {"TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}"}
    skipped = await run_command("schedules", "claim", "a", "--", "touch", "a", env=env, cwd=tmp_path)
    ran = await run_command(
        "schedules", "claim", "a", "--if-unreachable", "run", "--", "touch", "b", env=env, cwd=tmp_path
    )

    assert (skipped.code, ran.code) == (1, 0)
    assert "the command was not run (--if-unreachable skip)" in skipped.stderr
    assert "running the command anyway" in ran.stderr
    assert (tmp_path / "b").exists()
    assert not (tmp_path / "a").exists()


async def test_a_claim_of_nothing_is_refused(server: DevServer) -> None:
    assert (await claim(server, "no-such-job", "--", "true")).code == 2
    assert (await claim(server, "no-such-job")).code == 2


async def test_words_of_the_command_are_not_ours(scene: Scene, server: DevServer) -> None:
    await scene.add("echo", schedule={"every": "1h"}, run=shell("true"))
    answer = await claim(server, scene.id("echo"), "--", "echo", "--output", "json", "sync")

    assert answer.stdout == "--output json sync\n"
