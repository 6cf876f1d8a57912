"""Runs that start late on a real server, because no worker was there: what they leave, and who may start what by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import PollWorkflowTaskQueueRequest
from temporalio.client import (
    Client,
    ScheduleBackfill,
    ScheduleOverlapPolicy,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowHandle,
)

from activities import JobContext, handler
from activities.contract import JobResult
from schedules.compile.job import compile_job
from schedules.model import DesiredSchedule
from schedules.server.gateway import TemporalGateway
from schedules.source.user_modules import find_handlers
from tests.factories import job
from tests.runs import current_details
from tests.servers import DevServer
from worker.app import Offer, build_worker
from worker.metrics.metrics import WorkerMetrics
from worker.modules import find_workflows
from worker.settings import load_settings

AWAY = 7.0
"""Seconds without a worker."""
NOTE, WAIT = {"python": {"handler": "note"}}, {"python": {"handler": "wait"}}


@dataclass
class Bench:
    """Schedules of one test on the shared server, whose worker comes later."""

    client: Client
    queue: str
    noted: list[tuple[str, datetime]] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)

    def _desired(self, name: str, **fields: Any) -> DesiredSchedule:
        usual = {"schedule": {"every": "2s"}, "task_queue": self.queue, "timeout": "30s", "run": NOTE}
        spec = job(name, **{**usual, "heartbeat_timeout": "5s", **fields})
        return compile_job(spec, "late", "tests", datetime.now(UTC))

    async def schedule(self, name: str, **fields: Any) -> str:
        """A job that runs every two seconds from now on; its full name."""
        desired = self._desired(f"{self.queue}-{name}", **fields)
        await TemporalGateway(self.client).create(desired)
        return desired.id

    async def change(self, name: str, **fields: Any) -> None:
        """What a sync of another spec writes; the server hears of it at once."""
        gateway = TemporalGateway(self.client)
        observed = await gateway.describe(name)
        assert observed is not None
        await gateway.update(self._desired(name, **fields), observed)

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        @handler("note")
        async def note(context: JobContext) -> None:
            self.noted.append((context.job, context.scheduled_at.astimezone(UTC)))

        @handler("wait")
        async def wait(context: JobContext) -> None:
            self.began.set()
            await asyncio.sleep(60)

        module = ModuleType("noting")
        vars(module).update(note=note, wait=wait)
        offer = Offer(find_handlers([module]), find_workflows([]), [])
        settings = load_settings(task_queue=self.queue, drain_timeout="0s")
        async with build_worker(self.client, settings, offer, WorkerMetrics()) as worker, worker:
            yield

    async def stop(self, name: str) -> None:
        """No further starts."""
        await self.client.get_schedule_handle(name).pause()

    async def runs(self, name: str) -> list[WorkflowExecution]:
        """Oldest start first."""
        found = [run async for run in self.client.list_workflows(f"TemporalScheduledById = '{name}'")]
        return sorted(found, key=lambda run: run.start_time)

    async def until(self, holds: Callable[[list[WorkflowExecution]], bool], name: str) -> list[WorkflowExecution]:
        """The runs of a job once they are as wanted."""
        async with asyncio.timeout(60):
            while not holds(found := await self.runs(name)):  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.2)
        return found

    async def finished(self, name: str) -> list[WorkflowExecution]:
        """The runs of a job once none waits any more, and without further starts; a V2 schedule keeps what waits while it is paused."""
        async with asyncio.timeout(60):
            while (await self.client.get_schedule_handle(name).describe()).raw_description.info.buffer_size:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        await self.stop(name)
        return await self.until(lambda runs: all(run.close_time for run in runs), name)

    def handle(self, run: WorkflowExecution) -> WorkflowHandle[Any, JobResult]:
        return self.client.get_workflow_handle(run.id, run_id=run.run_id, result_type=JobResult)


@pytest.fixture
async def bench(either_server: DevServer, name: str) -> Bench:
    return Bench(await Client.connect(either_server.address), name)


def scheduled(run: WorkflowExecution) -> datetime:
    return datetime.fromisoformat(run.id[-20:])


def started_on_time(run: WorkflowExecution) -> bool:
    """Half of two seconds is the limit; a step takes no time."""
    return run.close_time is not None and (run.close_time - scheduled(run)).total_seconds() < 1


async def test_a_late_run_hands_over_to_the_newest_and_says_so(bench: Bench) -> None:
    name = await bench.schedule("skip")
    await asyncio.sleep(AWAY)
    async with bench.worker():
        first, child, *_ = await bench.until(lambda runs: len(runs) > 1 and runs[0].close_time is not None, name)
        result = await bench.handle(first).result()
        details = await current_details(bench.handle(first))

    newest = scheduled(child)
    assert result.outcome == "superseded"
    assert result.reason == f"superseded by {name}-{newest:%Y-%m-%dT%H:%M:%SZ}"
    assert details == f"superseded: {result.reason}"
    assert result.caught_up_to == f"{newest:%Y-%m-%dT%H:%M:%SZ}"
    assert result.not_run is not None
    assert result.not_run.count == (newest - scheduled(first)).total_seconds() / 2 - 1
    assert (await bench.handle(child).result()).outcome == "succeeded"
    assert (child.parent_id, child.status) == (first.id, WorkflowExecutionStatus.COMPLETED)
    assert child.start_time < first.close_time  # type: ignore[operator]  # it has ended
    assert newest.timestamp() % 2 == 0
    assert (name, newest) in bench.noted
    assert (name, scheduled(first)) not in bench.noted


async def test_a_run_whose_worker_died_with_its_first_task_was_not_missed(bench: Bench) -> None:
    """It starts late only because the server waits ten seconds for that worker; `skip` drops what no worker was there for."""
    name = await bench.schedule("skip", catchup={"policy": "skip"}, schedule={"every": "4s"}, overlap="allow_all")
    died = PollWorkflowTaskQueueRequest(namespace="default", task_queue=TaskQueue(name=bench.queue), identity="died")
    await bench.client.workflow_service.poll_workflow_task_queue(died)
    first = (await bench.until(bool, name))[0]
    async with bench.worker():
        result = await bench.handle(first).result()
        await bench.finished(name)

    assert (result.outcome, result.lateness > 8) == ("succeeded", True)


async def test_the_outcome_of_what_did_not_run_can_be_searched_for(bench: Bench) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=3)
    once = {"at": f"{soon:%Y-%m-%dT%H:%M:%SZ}"}
    late = await bench.schedule("late", schedule=once, start_deadline="3s")
    skipped = await bench.schedule(
        "skipped", catchup={"policy": "skip"}, overlap="terminate_other", schedule={"every": "4s"}
    )
    await asyncio.sleep(AWAY + 3)
    async with bench.worker():
        (run,) = await bench.until(lambda runs: bool(runs) and runs[0].close_time is not None, late)
        result = await bench.handle(run).result()
        query = f"TickwrightOutcome = 'too_late' AND TemporalScheduledById = '{late}'"
        found = [each.id async for each in bench.client.list_workflows(query)]
        kinds = [event.event_type async for event in bench.handle(run).fetch_history_events()]

    assert found == [run.id]
    assert result.outcome == "too_late"
    assert result.reason.startswith("too late by ")
    assert result.reason.endswith("s: start_deadline is 3s")
    assert bench.noted == [] or all(job_name != late for job_name, _ in bench.noted)
    assert EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED not in kinds
    assert len(kinds) == 7  # started, one workflow task of three, the decision, the attribute, completed
    assert skipped not in {job_name for job_name, at in bench.noted if (soon - at).total_seconds() > AWAY}


async def test_what_somebody_asks_for_by_hand_runs_however_old_it_is(bench: Bench) -> None:
    """A trigger while no worker is there, and a backfill of times that ran and of one before the schedule was made."""
    name = await bench.schedule("by-hand")
    schedule = bench.client.get_schedule_handle(name)
    async with bench.worker():
        await bench.until(lambda runs: sum(run.close_time is not None for run in runs) >= 3, name)
    await bench.stop(name)
    on_time = next(run for run in await bench.runs(name) if run.close_time and started_on_time(run))
    kinds = [event.event_type async for event in bench.handle(on_time).fetch_history_events()]
    assert (len(kinds), kinds.count(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)) == (11, 2)  # no trace of catching up
    first, second = (at for _, at in bench.noted[:2])
    await asyncio.sleep(2 - time.time() % 2 + 1.1)  # an odd second, at which the job is never due
    await schedule.trigger()
    await asyncio.sleep(AWAY)
    bench.noted.clear()
    asked = {first - timedelta(seconds=2), first, second}
    async with bench.worker():
        await schedule.backfill(
            ScheduleBackfill(min(asked) - timedelta(seconds=1), second, overlap=ScheduleOverlapPolicy.ALLOW_ALL)
        )
        await bench.until(lambda runs: all(run.close_time for run in runs) and len(bench.noted) >= 4, name)
    noted = [at for _, at in bench.noted]
    assert {at for at in noted if at.timestamp() % 2 == 0} == asked
    assert sum(at.timestamp() % 2 for at in noted) == 1


@pytest.mark.parametrize("how", ["cancel", "terminate"])
async def test_ending_a_late_run_ends_what_it_runs_instead(how: str, bench: Bench) -> None:
    name = await bench.schedule("ended", run=WAIT)
    await asyncio.sleep(AWAY)
    async with bench.worker():
        await asyncio.wait_for(bench.began.wait(), 30)
        await bench.stop(name)
        first, child = await bench.until(lambda runs: len(runs) == 2, name)
        assert child.parent_id == first.id
        await (bench.handle(first).cancel() if how == "cancel" else bench.handle(first).terminate())
        first, child = await bench.until(lambda runs: all(run.close_time for run in runs), name)
    wanted = WorkflowExecutionStatus.CANCELED if how == "cancel" else WorkflowExecutionStatus.TERMINATED
    assert (first.status, child.status) == (wanted, wanted)


async def test_a_late_run_that_is_cancelled_ends_as_cancelled_whatever_becomes_of_the_other(bench: Bench) -> None:
    """Its child's own outcome is that a compensation failed."""
    undo = {"python": {"handler": "nobody-knows-it"}, "retry": {"max_attempts": 1}}
    name = await bench.schedule("loud", run=None, steps=[{"name": "one", **WAIT, "compensate": undo}])
    await asyncio.sleep(AWAY)
    async with bench.worker():
        await asyncio.wait_for(bench.began.wait(), 30)
        await bench.stop(name)
        first, _ = await bench.until(lambda runs: len(runs) == 2, name)
        await bench.handle(first).cancel()
        first, child = await bench.until(lambda runs: all(run.close_time for run in runs), name)
        details = await current_details(bench.handle(first))
    assert (first.status, details) == (WorkflowExecutionStatus.CANCELED, "cancelled: cancelled on request")
    assert child.status == WorkflowExecutionStatus.FAILED


async def test_a_job_of_every_second_leaves_a_bounded_number_of_runs(bench: Bench) -> None:
    """Seven seconds without a worker: under skip one run and its child; under buffer_all one for each that was kept."""
    skip = await bench.schedule("one", schedule={"every": "1s"})
    kept = await bench.schedule(
        "all", schedule={"every": "1s"}, overlap="buffer_all", catchup={"policy": "run_all", "max_missed": 2}
    )
    await asyncio.sleep(AWAY)
    away_until = datetime.now(UTC)
    async with bench.worker():
        await bench.until(lambda runs: bool(runs) and runs[0].close_time is not None, skip)
        await bench.until(lambda runs: bool(runs) and runs[0].close_time is not None, kept)
        few, many = await bench.finished(skip), await bench.finished(kept)
    missed = [run for run in few if scheduled(run) < away_until]
    assert len(missed) <= 3
    assert len([run for run in many if scheduled(run) < away_until]) <= AWAY + 3
    ran = [at for job_name, at in bench.noted if job_name == kept and at < away_until]
    assert len(ran) == 2


@pytest.mark.parametrize("change", [{"timeout": "20s"}, {"schedule": {"every": "3s"}}], ids=["limits", "times"])
async def test_a_change_of_the_schedule_while_runs_wait_lets_no_more_of_them_run(
    change: dict[str, Any], bench: Bench
) -> None:
    """The server keeps what waits: the first late run decides about it, and a trigger among it runs all the same."""
    usual = {"overlap": "buffer_all", "catchup": {"policy": "run_all", "max_missed": 2}}
    name = await bench.schedule("changed", **usual)
    one = {"overlap": "buffer_one", "start_deadline": "4s"}
    single = await bench.schedule("single", **one)
    await asyncio.sleep(AWAY)
    await bench.change(name, **{**usual, **change})
    await bench.change(single, **{**one, **change})
    await asyncio.sleep(6 - time.time() % 6 + 1.1)  # a second at which neither is due
    await bench.client.get_schedule_handle(name).trigger(overlap=ScheduleOverlapPolicy.BUFFER_ALL)
    await asyncio.sleep(5)
    async with bench.worker():
        back = datetime.now(UTC)
        for each in (name, single):
            await bench.until(lambda runs: any(map(started_on_time, runs)), each)
            await bench.finished(each)
    assert len([at for job_name, at in bench.noted if job_name == name and at < back]) == 2 + 1
    assert all((back - at).total_seconds() < 4 + 1 for job_name, at in bench.noted if job_name == single)


async def test_a_backfill_that_waits_for_its_turn_runs_however_often_the_schedule_has_changed(bench: Bench) -> None:
    usual = {"overlap": "buffer_all", "run": WAIT, "timeout": "3s"}
    name = await bench.schedule("filled", **usual)
    schedule = bench.client.get_schedule_handle(name)
    await bench.stop(name)
    until = datetime.now(UTC) - timedelta(minutes=1)
    await schedule.backfill(
        ScheduleBackfill(until - timedelta(seconds=5), until, overlap=ScheduleOverlapPolicy.BUFFER_ALL)
    )
    await bench.change(name, **usual, description="another")

    def asked_for(runs: list[WorkflowExecution]) -> list[WorkflowExecution]:
        return [run for run in runs if scheduled(run) < until]

    async with bench.worker():
        runs = await bench.until(lambda runs: sum(run.close_time is not None for run in asked_for(runs)) >= 2, name)
    assert {run.status for run in asked_for(runs) if run.close_time} == {WorkflowExecutionStatus.FAILED}  # timed out


@pytest.mark.parametrize("overlap", ["skip", "buffer_one", "buffer_all"])
async def test_a_backfill_of_missed_times_while_no_worker_is_there_runs_them(overlap: str, bench: Bench) -> None:
    name = await bench.schedule("again", overlap=overlap)
    await asyncio.sleep(AWAY + 1)
    first = min([scheduled(run) for run in await bench.runs(name)])
    asked = {first + timedelta(seconds=seconds) for seconds in (2, 4)}
    await bench.client.get_schedule_handle(name).backfill(
        ScheduleBackfill(first + timedelta(seconds=1), max(asked), overlap=ScheduleOverlapPolicy.ALLOW_ALL)
    )
    await asyncio.sleep(4)
    async with bench.worker():
        await bench.until(lambda runs: any(map(started_on_time, runs)), name)
        await bench.stop(name)
        await bench.until(lambda runs: all(run.close_time for run in runs), name)
    assert asked <= {at for _, at in bench.noted}
    assert first not in {at for _, at in bench.noted}


async def test_runs_that_wait_for_longer_ones_all_run_when_nothing_was_away(bench: Bench) -> None:
    """The server's watch over a run that goes on is no sign that it was away, though it is written down only at its end."""
    name = await bench.schedule("long", overlap="buffer_all", run=WAIT, timeout="5s")
    async with bench.worker():
        runs = await bench.until(lambda runs: sum(run.close_time is not None for run in runs) >= 4, name)
        await bench.stop(name)
        times = [scheduled(run) for run in runs[:4]]
        await asyncio.gather(*(bench.handle(run).terminate() for run in runs if run.close_time is None))
    assert times == [times[0] + timedelta(seconds=2 * number) for number in range(4)]
    assert {run.status for run in runs[:4]} == {WorkflowExecutionStatus.FAILED}  # timed out, each of them
