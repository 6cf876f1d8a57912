"""What an account reads of runs: the same rules for the twin in memory and for real servers, on both schedulers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import uuid4

import pytest
from temporalio.client import Client

from activities.account.facts import Run
from activities.contract import JOB_WORKFLOW
from activities.occurrence import occurrence_id
from schedules.compile.job import compile_job
from schedules.ledger.facts import Job
from schedules.ledger.port import JobRecords
from schedules.ledger.records import Records
from schedules.server.gateway import TemporalGateway
from tests.factories import job as job_spec
from tests.records_twin import RecordsInMemory
from tests.servers import DevServer

NINE = datetime(2027, 3, 1, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
REASON = "ended by the operator"


class Hands(Protocol):
    """Somebody who has runs of a job, whose workers never come."""

    @property
    def records(self) -> JobRecords: ...

    async def has(self, name: str) -> None:
        """There is such a job, paused."""

    async def start(self, job: str, at: datetime) -> None: ...
    async def end(self, job: str, at: datetime) -> None:
        """Terminates the run that goes on."""


class Twin:
    """In memory: a clock that goes on by a second with everything that is done."""

    def __init__(self) -> None:
        self.memory, self.now = RecordsInMemory(), datetime.now(UTC)

    @property
    def records(self) -> JobRecords:
        return self.memory

    async def has(self, name: str) -> None:
        desired = compile_job(job_spec(name=name, paused=True), "shop", "test", NINE)
        self.memory.described[name] = Job(
            name, desired.times, owner=desired.owner, paused=True, workflow_type=JOB_WORKFLOW, workflow_id=name
        )

    async def start(self, job: str, at: datetime) -> None:
        self.now += timedelta(seconds=1)
        self.memory.add(Run(occurrence_id(job, at), uuid4().hex, at, self.now, scheduled_by=job, waiting=True))

    async def end(self, job: str, at: datetime) -> None:
        self.now += timedelta(seconds=1)
        for run in [each for each in self.memory.kept.values() if each.id == occurrence_id(job, at)]:
            if run.closed_at is None:
                self.memory.add(replace(run, closed_at=self.now, status="terminated", waiting=False))


class Server:
    """A real namespace."""

    def __init__(self, client: Client) -> None:
        self.client = client

    @property
    def records(self) -> JobRecords:
        return Records(self.client)

    async def has(self, name: str) -> None:
        gateway = TemporalGateway(self.client)
        if missing := await gateway.missing_attributes():
            await gateway.add_attributes(missing)
        await gateway.create(compile_job(job_spec(name=name, paused=True), "shop", "test", NINE))

    async def start(self, job: str, at: datetime) -> None:
        await self.client.start_workflow(JOB_WORKFLOW, id=occurrence_id(job, at), task_queue="nobody")
        await asyncio.sleep(0.01)  # so that no two start in one millisecond

    async def end(self, job: str, at: datetime) -> None:
        await self.client.get_workflow_handle(occurrence_id(job, at)).terminate(REASON)
        await asyncio.sleep(0.01)


@pytest.fixture(params=["twin", "server", "v2_server"])
async def hands(request: pytest.FixtureRequest) -> Hands:
    if request.param == "twin":
        return Twin()
    server: DevServer = request.getfixturevalue(request.param)
    return Server(await Client.connect(server.address))


@pytest.fixture
async def job(hands: Hands) -> Job:
    """A job of its own."""
    name = f"relay-{uuid4().hex[:8]}"
    await hands.has(name)
    found = await hands.records.job(name)
    assert found is not None
    return found


async def read(hands: Hands, job: Job, until: Callable[[list[Run]], bool]) -> list[Run]:
    """The runs from nine to twelve, once visibility shows what it is to show."""
    while True:
        found = await hands.records.runs_of(job, NINE, NINE + 3 * HOUR)
        if until(found.runs):
            assert found.complete
            return found.runs


def times(runs: list[Run]) -> list[int]:
    """The hours of the scheduled times."""
    return [run.scheduled_at.hour for run in runs]


async def test_a_job_is_described_and_one_that_is_none_is_not(hands: Hands, job: Job) -> None:
    assert (job.paused, job.owner) == (True, "shop/test")
    assert await hands.records.job(f"{job.name}-not") is None


async def test_runs_are_those_whose_ids_are_of_the_span_and_of_no_other_job(hands: Hands, job: Job) -> None:
    for hour in (-1, 0, 2, 3, 4):  # The span goes from nine to twelve, both included.
        await hands.start(job.name, NINE + hour * HOUR)
    await hands.start(f"{job.name}-2", NINE + HOUR)
    assert sorted(times(await read(hands, job, lambda runs: len(runs) >= 3))) == [9, 11, 12]


async def test_what_goes_on_comes_before_what_has_ended_and_the_newest_first(hands: Hands, job: Job) -> None:
    for hour in range(4):
        await hands.start(job.name, NINE + hour * HOUR)
    for hour in (2, 0):
        await hands.end(job.name, NINE + hour * HOUR)
    runs = await read(hands, job, lambda runs: [run.status for run in runs].count("terminated") == 2 and len(runs) == 4)
    assert times(runs) == [12, 10, 9, 11]
    assert [run.closed_at is None for run in runs] == [True, True, False, False]


async def test_each_run_under_an_id_is_one_of_its_own(hands: Hands, job: Job) -> None:
    for _ in range(2):
        await hands.start(job.name, NINE)
        await hands.end(job.name, NINE)
    runs = await read(hands, job, lambda runs: len(runs) == 2 and all(run.closed_at for run in runs))
    assert times(runs) == [9, 9]
    assert len({run.run_id for run in runs}) == 2


async def test_only_what_was_open_after_a_time_is_asked_for(hands: Hands, job: Job) -> None:
    await hands.start(job.name, NINE)
    await hands.end(job.name, NINE)
    await hands.start(job.name, NINE + HOUR)
    (ended,) = [run for run in await read(hands, job, lambda runs: len(runs) == 2) if run.closed_at]
    assert ended.closed_at is not None
    for shift, expected in ((-2, [9, 10]), (2, [10])):
        after = ended.closed_at + timedelta(seconds=shift)
        found = await hands.records.runs_of(job, NINE, NINE + 3 * HOUR, open_after=after)
        assert sorted(times(found.runs)) == expected


async def test_a_listed_run_waits_only_once_that_is_asked_and_an_end_has_no_result(hands: Hands, job: Job) -> None:
    await hands.start(job.name, NINE)
    await hands.start(job.name, NINE + HOUR)
    await hands.end(job.name, NINE)
    runs = await read(hands, job, lambda runs: [run.status for run in runs] == ["running", "terminated"])
    assert [run.waiting for run in runs] == [False, False]
    assert [run.verdict for run in await hands.records.with_waiting(runs)] == ["waiting", "terminated"]
    assert [run.result for run in await hands.records.with_results(runs)] == [None, None]


async def test_a_moment_is_quiet_after_which_nothing_of_the_namespace_starts_or_ends(hands: Hands, job: Job) -> None:
    await hands.start(job.name, NINE)
    [run] = await read(hands, job, lambda runs: len(runs) == 1)
    moment, long_ago = run.started_at - job.on_time / 2, NINE - timedelta(days=9_000)
    assert await hands.records.quiet(job, [moment, long_ago]) == {long_ago}
    await hands.end(job.name, NINE)
    [run] = await read(hands, job, lambda runs: runs[0].closed_at is not None)
    assert run.closed_at
    assert await hands.records.quiet(job, [run.closed_at - job.on_time / 2]) == frozenset()
