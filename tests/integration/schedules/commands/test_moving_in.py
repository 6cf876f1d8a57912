"""The tutorial of docs/moving-in.md on a real server: its crontab and its commands, with a cron whose day is three seconds long."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections import Counter
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey

from activities.contract import JOB_WORKFLOW, OUTCOME_ATTRIBUTE
from schedules.importing.hand_over import SETTLES
from tests.processes import run_command, worker
from tests.readme import blocks, commands, section

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import DevServer

TUTORIAL = section("Ten jobs in fifteen minutes")
PERIOD = 3
OUTCOME = SearchAttributeKey.for_keyword(OUTCOME_ATTRIBUTE)
SLOW = "mail-queue"
"""The job that the tutorial claims; it runs once an hour, so that there is one time to claim."""


class Machine:
    """The machine that the crontab is on: its programs, which note each run, and a cron that runs all lines every three seconds."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._log = folder, folder / "cron.log"
        self._lines = dict[str, str]()
        self.starts = Counter[str]()
        self.until: datetime | None = None
        (folder / "bin").mkdir()
        self._log.write_text("", encoding="utf-8")

    def crontab(self) -> str:
        """The tutorial's, with its programs in this folder."""
        [block] = blocks(TUTORIAL, "crontab")
        text = block.text.replace("/srv/shop/bin", str(self._folder / "bin")).replace(
            "/tmp/feed.lock", f"{self._folder}/lock"
        )
        for program in sorted(set(re.findall(rf"{self._folder}/bin/([\w-]+)", text))):
            path = self._folder / "bin" / program
            path.write_text(f'#!/bin/sh\necho "$0" >> {self._folder}/done\n', encoding="utf-8")
            path.chmod(0o755)
        self._lines = {
            line.split(None, 5)[5]: line for line in text.splitlines() if line[:1].isdigit() or line[:1] == "*"
        }
        daily = next(line for line in text.splitlines() if line.startswith("@daily"))
        self._lines[daily.removeprefix("@daily ")] = daily
        return text

    async def cron(self) -> None:
        """Up to `until`: who comments the lines out does so between two times."""
        at = datetime.fromtimestamp(-(-datetime.now(UTC).timestamp() // PERIOD) * PERIOD, UTC)
        while self.until is None or at < self.until:
            await asyncio.sleep((at - datetime.now(UTC)).total_seconds())
            for command in self._lines:
                if SLOW not in command:
                    with self._log.open("a", encoding="utf-8") as log:
                        log.write(f"{at:%Y-%m-%dT%H:%M:%S}+00:00 host CRON[1]: (shop) CMD ({command})\n")
                    self.starts[command] += 1
                    shell = await asyncio.create_subprocess_exec("sh", "-c", command)
                    await shell.wait()
            at += timedelta(seconds=PERIOD)

    @property
    def work(self) -> int:
        """How often any program was run, by either side."""
        done = self._folder / "done"
        return len(done.read_text(encoding="utf-8").splitlines()) if done.exists() else 0


def shortened(spec: str) -> str:
    """The imported file with the cron's short days, but for the job that is claimed."""
    head, *jobs = re.split(r"(?m)^(?=  # from )", spec)
    short = [
        re.sub(r"(?m)^    schedule: .*$", f"    schedule: {{every: {PERIOD}s}}", job) if SLOW not in job else job
        for job in jobs
    ]
    return head + "".join(short)


async def test_ten_jobs_are_moved_without_a_run_lost_or_doubled(own_server: DevServer, tmp_path: Path) -> None:
    lines = [command.line for block in blocks(TUTORIAL, "console") for command in commands(block)]
    own = iter([line for line in lines if line.startswith("tickwright ")])
    machine, environ = Machine(tmp_path), own_server.environ
    (tmp_path / "shop.crontab").write_text(machine.crontab(), encoding="utf-8")
    (tmp_path / "jobs").mkdir()

    async def follow(verb: str, *more: str, **replaced: str) -> Any:
        """The tutorial's next command, which must be of this verb."""
        line = next(own)
        for old, new in replaced.items():
            line = line.replace({"at": "2027-03-01T09:27:30Z"}[old], new)
        words = shlex.split(line.replace("/srv/shop/bin", str(tmp_path / "bin")))[1:]
        assert words[0] == verb, words
        return await run_command("schedules", *words, *more, env=environ, cwd=tmp_path)

    async def report(*of: str) -> dict[str, Any]:
        answer = await follow(*of, "--output", "json")
        found: dict[str, Any] = json.loads(answer.stdout)
        assert answer.code in {0, 1}, answer.stderr
        return found

    imported = await follow("import")
    assert (imported.code, imported.stderr.split(" (")[0]) == (0, "10 jobs: 10 changed")
    assert (await follow("lint")).code == 0
    spec = tmp_path / "jobs" / "shop.yaml"
    spec.write_text(shortened(spec.read_text(encoding="utf-8")), encoding="utf-8")
    async with worker(own_server.address, cwd=tmp_path, allow_commands="true"):
        asked = monotonic()
        assert (await follow("sync", "--no-preflight")).code == 0
        sync_took = monotonic() - asked
        cron = asyncio.ensure_future(machine.cron())
        await asyncio.sleep(3.5 * PERIOD)
        shadow = await report("shadow")
        assert [each["equal"] for each in shadow["jobs"]] == [True] * 9, shadow
        assert {each["old_side"].partition(" `")[0] for each in shadow["hand_over"]["jobs"]} == {"comment out"}
        assert machine.work == machine.starts.total()

        assert (await follow("claim")).code == 0
        assert machine.work == machine.starts.total() + 1
        again = await run_command("schedules", "claim", SLOW, "--", "false", env=environ)
        assert (again.code, "nothing was run" in again.stderr) == (0, True)

        lead = max(4, 3 * sync_took // PERIOD) + 0.5  # periods; a busy machine takes its time for a sync
        begins = datetime.fromtimestamp((datetime.now(UTC).timestamp() // PERIOD + lead) * PERIOD, UTC)
        machine.until = begins
        assert (await follow("sync", "--no-preflight", at=f"{begins:%Y-%m-%dT%H:%M:%SZ}")).code == 0
        await cron
        await asyncio.sleep((begins - datetime.now(UTC)).total_seconds() + 2.5 * PERIOD + SETTLES.total_seconds())
        over = await report("shadow")
        assert all(each["new"] >= 2 and not each["neither"] and not each["twice"] for each in over["jobs"]), over

        assert (await follow("sync", "--no-preflight")).code == 0
        machine.until = datetime.now(UTC) + timedelta(seconds=2.5 * PERIOD)  # the old lines are back
        await machine.cron()
        live = await live_runs(own_server)
        assert machine.work == machine.starts.total() + live
    assert next(own, None) is None


async def live_runs(server: DevServer) -> int:
    """How many runs have done their work here, the claimed one among them; all must have succeeded."""
    client = await Client.connect(server.address)
    while runs := [each async for each in client.list_workflows(f"WorkflowType = '{JOB_WORKFLOW}'")]:
        if all(each.status != WorkflowExecutionStatus.RUNNING for each in runs):
            break
    live = [each for each in runs if each.typed_search_attributes.get(OUTCOME) != "shadow"]
    assert {each.status for each in live} == {WorkflowExecutionStatus.COMPLETED}
    return len(live)
