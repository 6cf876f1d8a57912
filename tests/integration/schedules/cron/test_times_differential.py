"""Three answers to one question, when does this job run: the real server's, our evaluator's, and the oracle's.

`FUZZ_TRIPLES` sets how many (expression, zone, window) there are, `FUZZ_SEED` which ones.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest

from schedules.cron import Compiled, Occurrences, compile_cron
from schedules.model import Times
from tests.integration.schedule_server import connected, create, listed, server_in_memory
from tests.oracle.random_jobs import GAPS, REPEATS, ZONES, Job, random_job
from tests.oracle.real_time import changes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from temporalio.client import Client

TRIPLES = int(os.environ.get("FUZZ_TRIPLES", "2000"))
SEED = int(os.environ.get("FUZZ_SEED", "20270314"))
WINDOWS_PER_JOB = 7
HORIZON = (datetime(2027, 1, 1, tzinfo=UTC), datetime(2029, 12, 31, tzinfo=UTC))
MOST_LISTED = 900  # the server lists at most 1,000
AT_ONCE = 8
JOBS_PER_SERVER = 500  # a server in memory grows slow with thousands of schedules
HALF_WINDOWS = [timedelta(hours=hours) for hours in (36, 10, 4)] + [timedelta(minutes=minutes) for minutes in (45, 6)]


@dataclass(frozen=True)
class Question:
    """One triple: a job and a window, with the oracle's answer."""

    start: datetime
    end: datetime
    oracle: list[datetime]


def compiled_from(job: Job) -> Compiled:
    return compile_cron(
        job.expression,
        timezone=job.zone,
        dialect=job.dialect,
        gap=job.gap,
        repeat=job.repeat,
        horizon_start=HORIZON[0],
        horizon_end=HORIZON[1],
        excluded_days=job.excluded,
    )


def times_of(made: Compiled) -> Times:
    return Times(made.timezone, made.calendars, made.intervals, made.exclusions, end_at=made.end_at)


def question(job: Job, centre: datetime) -> Question:
    """The widest window around a moment in which the server can list all runs."""
    for half in HALF_WINDOWS:
        start, end = centre - half, centre + half
        answer = job.runs_between(start, end)
        if len(answer) <= MOST_LISTED:
            return Question(start, end, answer)
    raise AssertionError(f"{job} runs more often than a window can show")


def questions(job: Job, until: datetime, random: Random) -> list[Question]:
    """Windows around changes of clocks, and others, up to the moment until which the compiled form is to be exact."""
    near = [each for each in changes_of(job.zone) if each < until - HALF_WINDOWS[0]]
    moments = random.sample(near, min(len(near), WINDOWS_PER_JOB - 1))
    span = min(until, HORIZON[1]) - HORIZON[0]
    if span < timedelta(days=30):
        return []
    while len(moments) < WINDOWS_PER_JOB:
        hours = random.randrange(48, span // timedelta(hours=1) - 48)
        moments.append(HORIZON[0] + timedelta(hours=hours, minutes=17))
    return [question(job, moment) for moment in moments]


CHANGES: dict[str, list[datetime]] = {}


def changes_of(zone: str) -> list[datetime]:
    if zone not in CHANGES:
        inside = (HORIZON[0] + timedelta(days=3), HORIZON[1] - timedelta(days=3))
        CHANGES[zone] = [each for each in changes(zone, 2027, 2029) if inside[0] < each < inside[1]]
    return CHANGES[zone]


async def differences(client: Client, name: str, job: Job, random: Random) -> list[str]:
    """What server and evaluator say otherwise than the oracle."""
    made = compiled_from(job)
    times = times_of(made)
    occurrences = Occurrences(times)
    await create(client, name, times)
    found = []
    for asked in questions(job, made.exact_until or HORIZON[1], random):
        evaluated = list(occurrences.between(asked.start + timedelta(seconds=1), asked.end))
        served = await listed(client, name, asked.start, asked.end)
        if not asked.oracle == evaluated == served:
            found.append(told(job, asked, evaluated, served))
    return found


def told(job: Job, asked: Question, evaluated: list[datetime], served: list[datetime]) -> str:
    def only(these: Iterable[datetime], those: Iterable[datetime]) -> list[str]:
        return [f"{each:%m-%dT%H:%M:%S}" for each in sorted(set(these) - set(those))][:6]

    return (
        f"{job} {asked.start:%Y-%m-%dT%H:%M}..{asked.end:%m-%dT%H:%M}: "
        f"evaluator lacks {only(asked.oracle, evaluated)}, adds {only(evaluated, asked.oracle)}; "
        f"server lacks {only(asked.oracle, served)}, adds {only(served, asked.oracle)}"
    )


FIXED = ("30 0-3 * * *", "15 22,23,2 * * *", "*/20 0-5 * * *", "45 1 */2 * SUN", "0 * * * *", "0 0 1-7 * 6,0")


def every_policy_everywhere() -> list[Job]:
    """Jobs that no draw may miss: each policy in each zone, at the hours of its changes."""
    policies = list(product(ZONES, GAPS, REPEATS))
    return [
        Job(FIXED[index % len(FIXED)], "cron", zone, gap, repeat) for index, (zone, gap, repeat) in enumerate(policies)
    ]


async def differences_of_batch(address: str, first: int, jobs: list[Job]) -> list[str]:
    client = await connected(address)
    gate = asyncio.Semaphore(AT_ONCE)

    async def checked(index: int, job: Job) -> list[str]:
        async with gate:
            return await differences(client, f"job-{index}", job, Random(f"{SEED}/{index}"))

    answers = await asyncio.gather(*(checked(index, job) for index, job in enumerate(jobs, first)))
    return [each for answer in answers for each in answer]


@pytest.mark.timeout(180 + TRIPLES // 8)
async def test_server_evaluator_and_oracle_agree() -> None:
    random = Random(SEED)
    jobs = [*every_policy_everywhere(), *(random_job(random) for _ in range(-(-TRIPLES // WINDOWS_PER_JOB)))]
    different: list[str] = []
    for first in range(0, len(jobs), JOBS_PER_SERVER):
        batch = jobs[first : first + JOBS_PER_SERVER]
        with server_in_memory() as address:
            different += await differences_of_batch(address, first, batch)
        print(
            f"{(first + len(batch)) * WINDOWS_PER_JOB} triples of {first + len(batch)} jobs, {len(different)} different"
        )
    assert not different, "\n".join(different[:40])
