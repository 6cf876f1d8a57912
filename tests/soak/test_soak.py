"""Workers and server are killed, stopped and slowed down while people operate: nothing is lost, doubled, or told wrongly.

SOAK_SECONDS, SOAK_SEED and SOAK_SCHEDULER (`v1`, `v2` or both) say how long and what; SOAK_FOLDER keeps the server's database, the
logs and the facts, which `python -m tests.soak.report FOLDER/v1` judges again.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from pathlib import Path
from random import Random

import psycopg
import pytest
from temporalio.client import Client

from tests.chaos.ledger import ledger
from tests.postgres import postgres_server
from tests.soak.facts import collect
from tests.soak.faults import FAULTS, KILL, Fault, server_away, workers_away
from tests.soak.jobs import all_jobs
from tests.soak.operators import Operators
from tests.soak.report import Report, report
from tests.soak.seen import time_of
from tests.soak.world import WORKERS, World

SEED = int(os.environ.get("SOAK_SEED", "1"))
SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
SCHEDULERS = os.environ.get("SOAK_SCHEDULER", "v1,v2").split(",")
CALM = (25.0, 50.0)
"""Seconds between two faults."""
SMOKE = 120.0
"""Seconds; a shorter soak has two faults of known length and nobody who operates."""
QUIET = 10.0
"""Seconds without a run of a time before the end, after which there is none to come."""
PATIENCE = 180.0


async def short_faults(world: World) -> None:
    """What fits into little more than a minute."""
    await asyncio.sleep(10)
    await workers_away(world, tuple(WORKERS), 25, KILL)
    await asyncio.sleep(15)
    await server_away(world, 12, kill=True)


async def long_faults(world: World, random: Random, operators: Operators) -> None:
    """In the order of a pack of cards, shuffled again and again; times change in every third."""
    until, pack = time.time() + SECONDS, list[Fault]()
    working = asyncio.create_task(operators.work())
    number = 0
    while time.time() < until:
        await asyncio.sleep(random.uniform(*CALM))
        pack = pack or random.sample(FAULTS, len(FAULTS))
        fault, number = pack.pop(), number + 1
        world.log("fault", name=fault.__name__)
        changes = [operators.change()] if number % 3 == 0 else []
        await asyncio.gather(fault(world, random), *changes)
        world.log("fault is over", name=fault.__name__)
    working.cancel()
    await operators.at_rest()


async def until_quiet(address: str, end: float) -> None:
    """The last runs end, once there are no more faults; a queue that is never worked off is for the oracle to find."""
    client = await Client.connect(address)
    busy, patience = time.time(), time.time() + PATIENCE
    while time.time() < min(busy + QUIET, patience):
        running = client.list_workflows("WorkflowType = 'JobWorkflow' AND ExecutionStatus = 'Running'")
        if any((time_of(run.id) or 0) <= end for run in [run async for run in running]):
            busy = time.time()
        await asyncio.sleep(2)


async def soak(folder: Path, scheduler: str) -> Report:
    """The whole of it, and what came of it."""
    random = Random(f"{SEED} {scheduler}")
    work = str(folder / "work.log")
    settings = {"allow_commands": "true", "drain_timeout": "2s", "modules": "tests.soak.handlers", "SOAK_WORK": work}
    with postgres_server() as postgres:
        database = postgres.new_database()
        with psycopg.connect(database) as connection:
            connection.execute("CREATE TABLE booked (key text NOT NULL)")
        async with ledger(random) as service:
            world = World(folder, scheduler, settings)
            operators = Operators(world, {job.name: job for job in all_jobs()}, database, service.url, random)
            try:
                await world.start_server()
                for name in WORKERS:
                    await world.start_worker(name)
                await asyncio.gather(*map(world.until_there, WORKERS))
                await operators.declare()
                begin = time.time() + 5
                world.log("begin", seed=SEED, seconds=SECONDS)
                await (short_faults(world) if SECONDS < SMOKE else long_faults(world, random, operators))
                await asyncio.sleep(30)
                end = time.time()
                world.log("end")
                await until_quiet(world.address, end)
                facts = await collect(world, operators, begin, end, Counter(service.requests))
            finally:
                await world.close()
    found = report(facts)
    await asyncio.to_thread((folder / "report.txt").write_text, found.text + "\n")
    return found


@pytest.mark.skipif(
    "SOAK_SECONDS" not in os.environ, reason="takes its time: `make soak`, or SOAK_SECONDS=60 for a short one"
)
@pytest.mark.timeout(SECONDS * 1.5 + 1500)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
async def test_nothing_is_lost_doubled_or_told_wrongly(tmp_path: Path, scheduler: str) -> None:
    kept = os.environ.get("SOAK_FOLDER")
    folder = Path(kept) / scheduler if kept else tmp_path
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    found = await soak(folder, scheduler)
    print(found.text)
    assert not found.findings, found.text
