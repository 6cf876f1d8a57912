"""Everything is killed at random, again and again: each occurrence has one outcome, and each effect is there once."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import psutil
import psycopg
import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from activities.contract import JobResult
from tests.chaos.cast import Cast
from tests.chaos.ledger import ledger
from tests.deploy import Deploy
from tests.postgres import postgres_server

SEED = int(os.environ.get("CHAOS_SEED", "20270314"))
SECONDS = float(os.environ.get("CHAOS_SECONDS", "60"))
JOBS = 16
EVERY = 4
WORKERS = 2
QUIET = 150.0
"""Seconds that the last runs have to end, once nothing is killed any more."""
RETRY = {"max_attempts": 100, "initial": "1s", "max": "2s"}
MARK = "TICKWRIGHT_IDEMPOTENCY_KEY"
"""In the environment of what a command starts."""

Statuses = dict[str, list[WorkflowExecutionStatus | None]]


@dataclass(frozen=True)
class Kind:
    """What a job does: its steps, those with an effect in PostgreSQL, those with one in the ledger, those that run a command."""

    steps: list[dict[str, Any]]
    books: tuple[str, ...] = ()
    posts: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


def kinds(database: str, url: str) -> list[Kind]:
    """By the number of a job: both effects in order, both at once, a request, a command that leaves a process behind."""
    book = {"python": {"handler": "book", "params": {"database": database, "takes": 0.3}}}
    post = {"http": {"url": f"{url}/book", "json": {"at": "{scheduled_at:%FT%T}"}}}
    linger = {"command": {"argv": ["sleep 1000 & sleep 0.3"], "shell": True}}
    return [
        Kind([{"name": "book", **book}, {"name": "post", **post}], ("book",), ("post",)),
        Kind([{"name": "book", **book, "needs": []}, {"name": "post", **post, "needs": []}], ("book",), ("post",)),
        Kind([{"name": "post", **post}], (), ("post",)),
        Kind([{"name": "linger", **linger}], (), (), ("linger",)),
    ]


def declare(deploy: Deploy, given: list[Kind]) -> None:
    """Half of the jobs run in order, half at once; all of them make up for all that they miss."""
    for number in range(JOBS):
        deploy.job(
            f"job-{number}",
            schedule={"every": f"{EVERY}s", "offset": f"{number % EVERY}s"},
            run=None,
            steps=given[number // 4].steps,
            retry=RETRY,
            timeout="20s",
            heartbeat_timeout="5s",
            overlap="buffer_all" if number % 2 else "allow_all",
            catchup={"policy": "run_all", "max_missed": 500},
            task_queue=deploy.project,
        )


def due(jobs: list[str], begin: datetime, end: datetime) -> dict[str, int]:
    """The ids of the occurrences from `begin` to `end` with the job's number, by arithmetic: every four seconds, each with its offset."""
    first = int(begin.timestamp())
    return {
        f"{job}-{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}": number
        for number, job in enumerate(jobs)
        for at in range(first, int(end.timestamp()) + 1)
        if at % EVERY == number % EVERY
    }


async def runs_of(client: Client, project: str) -> Statuses:
    found: Statuses = {}
    async for run in client.list_workflows(f"TickwrightOwner = '{project}/default'"):
        found.setdefault(run.id, []).append(run.status)
    return found


async def until_all_ended(client: Client, project: str, expected: set[str]) -> Statuses:
    """Every run of the occurrences, once all of them have one and none goes on."""
    running, deadline = [WorkflowExecutionStatus.RUNNING], time.monotonic() + QUIET
    while True:
        found = await runs_of(client, project)
        waiting = sorted(each for each in expected if WorkflowExecutionStatus.RUNNING in found.get(each, running))
        if not waiting:
            return found
        assert time.monotonic() < deadline, f"no outcome after {QUIET:g} s: {len(waiting)}, such as {waiting[:5]}"
        await asyncio.sleep(1)


async def outcomes_of(client: Client, ids: set[str]) -> Counter[str]:
    results = [await client.get_workflow_handle(each, result_type=JobResult).result() for each in ids]
    return Counter(result.outcome for result in results)


def left_behind(keys: set[str]) -> list[str]:
    """Processes that commands of these steps have started and that live on."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) in keys:
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


@pytest.mark.timeout(SECONDS + QUIET + 120)
async def test_every_occurrence_has_one_outcome_and_every_effect_is_there_once(name: str, tmp_path: Path) -> None:
    random = Random(SEED)
    settings = {"task_queue": name, "allow_commands": "true", "drain_timeout": "1s", "modules": "tests.chaos.jobs"}
    with postgres_server() as postgres:
        database = postgres.new_database()
        with psycopg.connect(database) as connection:
            connection.execute("CREATE TABLE booked (key text NOT NULL)")
        async with ledger(random) as service, Cast(tmp_path, WORKERS, **settings) as cast:
            deploy, given = Deploy(tmp_path, {"TEMPORAL_ADDRESS": cast.address}, name), kinds(database, service.url)
            declare(deploy, given)
            await deploy.sync()
            begin, until = datetime.now(UTC) + timedelta(seconds=1), time.monotonic() + SECONDS
            while time.monotonic() < until:
                await asyncio.sleep(random.uniform(0.5, 4))
                await cast.strike(random)
            expected = due(list(deploy.jobs), begin, datetime.now(UTC))

            def keys(effect: str) -> set[str]:
                return {
                    f"{name}/default/{run[:-21]}/{run[-20:]}/{step}"
                    for run, number in expected.items()
                    for step in getattr(given[number // 4], effect)
                }

            client = await Client.connect(cast.address)
            found = await until_all_ended(client, name, set(expected))
            outcomes = await outcomes_of(client, set(expected))
            left = left_behind(keys("runs"))
        with psycopg.connect(database) as connection:
            booked = Counter(key for (key,) in connection.execute("SELECT key FROM booked").fetchall())

    figures = {"seed": SEED, "occurrences": len(expected), "killed": dict(cast.killed), "outcomes": dict(outcomes)}
    figures |= {"requests": sum(service.requests.values()), "posted": len(keys("posts")), "booked": len(keys("books"))}
    print(json.dumps(figures))
    assert len(expected) >= 200 or SECONDS < 60
    assert {run: statuses for run, statuses in found.items() if len(statuses) > 1} == {}
    assert outcomes == {"succeeded": len(expected)}
    assert {key: count for key in keys("posts") if (count := service.effects[key]) != 1} == {}
    assert {key: count for key in keys("books") if (count := booked[key]) != 1} == {}
    assert [key for key, count in booked.items() if count > 1] == []
    assert left == []
