"""Who is told of what an outage kept from running: real catch-up runs and a real watchdog, both after the same outage."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from temporalio.client import Client

from schedules.ledger.explain import explain
from schedules.ledger.records import Records
from tests.deploy import Deploy
from tests.integration.scenes import SECOND, now, until
from tests.processes import worker
from tests.receiver import Receiver, receiver
from tests.servers import dev_server, free_port

if TYPE_CHECKING:
    from datetime import datetime

GRACE = 5
DISTANCE = 3 * SECOND
"""Between the three times of a job; a run is on time for half of it."""
WATCHED: dict[str, Any] = {"timezone": "UTC", "on_missed": {"channels": ["hook"], "grace": f"{GRACE}s"}}
OPEN = {"due", "waiting", "running"}
"""Verdicts that do not last."""
LOOKED = "WorkflowType = 'TickwrightWatchdog' AND ExecutionStatus = 'Completed'"
POLICIES: dict[str, dict[str, Any]] = {
    "latest": {"catchup": {"policy": "run_latest"}},
    "two": {"catchup": {"policy": "run_all", "max_missed": 2}, "overlap": "buffer_all"},
    "too-late": {"catchup": {"policy": "run_latest"}, "start_deadline": "3s"},
    "skipping": {"catchup": {"policy": "skip"}},
}


def thrice(first: datetime) -> list[dict[str, str]]:
    """Three times of today, and so none for a day."""
    times = [first + DISTANCE * number for number in range(3)]
    return [{"cron": f"{at:%-S %-M %-H} * * ?", "dialect": "quartz"} for at in times]


def project(folder: Path, address: str) -> Deploy:
    """With one job, which runs often."""
    folder.mkdir()
    made = Deploy(folder, {"TEMPORAL_ADDRESS": address}, "outage")
    made.channels = {"hook": {"webhook": "${secret:HOOK}/hook"}}
    made.job("often", schedule={"every": "2s"}, **WATCHED)
    return made


async def a_look(address: str) -> None:
    """Waits until a watchdog has looked."""
    client = await Client.connect(address)
    async with asyncio.timeout(60):
        while not (await client.count_workflows(LOOKED)).count:  # noqa: ASYNC110  the server tells nobody
            await asyncio.sleep(0.2)


def settings(service: Receiver) -> dict[str, str]:
    return {"allow_commands": "true", "TICKWRIGHT_SECRET_HOOK": service.url}


async def verdicts(address: str, job: str, first: datetime) -> list[str]:
    """What became of the three times, as `explain` has it, once nothing more will become of them."""
    records = Records(await Client.connect(address))
    async with asyncio.timeout(60):
        while True:
            told = [
                await explain(records, job, f"{first + DISTANCE * number:%Y-%m-%dT%H:%M:%SZ}", now())
                for number in range(3)
            ]
            found: list[str] = [each.occurrence.verdict for each in told if each.occurrence]
            if not OPEN & set(found):
                return found
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("away", ["server", "worker"])
async def test_people_are_told_once_of_what_a_policy_gave_up_and_of_nothing_that_was_caught_up(
    away: str, tmp_path: Path
) -> None:
    port, database = free_port(), tmp_path / "temporal.db"
    address = f"127.0.0.1:{port}"
    async with receiver() as service, AsyncExitStack() as workers:
        with ExitStack() as servers:
            running = await asyncio.to_thread(servers.enter_context, dev_server(port=port, database=database))
            await workers.enter_async_context(worker(address, cwd=tmp_path, **settings(service)))
            deploy = project(tmp_path / "specs", address)
            await deploy.sync()
            await a_look(address)  # What was before its first one, a watchdog does not know.
            first = now().replace(microsecond=0) + 15 * SECOND
            for job, policy in POLICIES.items():
                deploy.job(job, schedule=thrice(first), **WATCHED, **policy)
            await deploy.sync()
            if away == "server":
                await asyncio.to_thread(running.kill)
                await asyncio.to_thread(servers.close)
            else:
                await workers.aclose()
            assert now() < first
            await until(first + 2 * DISTANCE + timedelta(seconds=GRACE + 1))
            if away == "server":
                await asyncio.to_thread(servers.enter_context, dev_server(port=port, database=database))
            else:
                await workers.enter_async_context(worker(address, cwd=tmp_path, **settings(service)))
            await service.until(
                lambda it: len(it.taken) >= 2, "not told of both", timeout=150
            )  # a look a minute, and what is not decided yet is asked at the next
            await asyncio.sleep(GRACE)
            became = {name: await verdicts(address, f"outage-{name}", first) for name in POLICIES}
            await workers.aclose()

    newest = f"{first + 2 * DISTANCE:%Y-%m-%dT%H:%M:%SZ}"
    told = sorted((each.document["job"], each.document["scheduled_at"]) for each in service.taken)
    assert told == [("outage-skipping", newest), ("outage-too-late", newest)], [
        each.document["reason"] for each in service.taken
    ]
    assert became["latest"][2:] == ["succeeded"]
    assert became["two"][1:] == ["succeeded", "succeeded"]
    assert became["too-late"] == ["too_late"] * 3
    assert became["skipping"][2:] == ["skipped"]
    assert set(became["latest"][:2] + became["two"][:1]) <= {"superseded", "overlap_skipped"}
    reasons = {each.document["job"]: each.document["reason"] for each in service.taken}
    assert reasons["outage-too-late"].endswith("start_deadline is 3s")
    assert reasons["outage-skipping"].endswith("catchup is skip")
