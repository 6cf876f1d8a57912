"""A Job outlives its worker, and the next one goes on with it: nothing runs twice, nothing of its output is lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError

from activities.contract import WORKER_SHUTDOWN
from activities.handlers.kubernetes.own_job import OwnJob
from tests.kubernetes import JOBS, PODS, stamp
from tests.waiting import until

if TYPE_CHECKING:
    from tests.integration.activities.handlers.kubernetes.conftest import Step
    from tests.kubernetes import Cluster


async def test_after_a_drain_each_line_is_shown_once_and_the_output_is_whole(step: Step, cluster: Cluster) -> None:
    async with step.worker() as first:
        running = asyncio.create_task(first.run(step.call()))
        pod = cluster.run_pod(await cluster.new_job(), "line 0\nline 1\n")
        await until(lambda: ("pods/log", "get") in cluster.used)
        await asyncio.sleep(0.1)
        first.environment.worker_shutdown()
        first.environment.cancel(ActivityCancellationDetails(worker_shutdown=True))
        with pytest.raises(ApplicationError) as drained:
            await running
    assert drained.value.type == WORKER_SHUTDOWN
    seen, last = drained.value.details[0], drained.value.details[1]
    cluster.say(pod, 'line 2\n{"rows": 7}\n')
    cluster.end_pod(pod)
    result = await step.run(last=last)
    assert seen["stdout"] == "line 0\nline 1\n"
    assert result.output["stdout"] == 'line 2\n{"rows": 7}\n'
    assert result.output["rows"] == 7
    assert len(cluster.sent) == 1


async def test_what_a_dead_worker_has_begun_is_gone_on_with_and_all_of_its_output_is_there(
    step: Step, cluster: Cluster
) -> None:
    async with step.worker() as first:
        running = asyncio.create_task(first.run(step.call()))
        pod = cluster.run_pod(await cluster.new_job(), "line 0\n")
        first.environment.cancel(ActivityCancellationDetails(not_found=True))
        with pytest.raises(asyncio.CancelledError):
            await running
    cluster.say(pod, "line 1\n")
    cluster.end_pod(pod)
    result = await step.run()
    assert result.output["stdout"] == "line 0\nline 1\n"
    assert "goes on with the Job of an earlier attempt" in result.log
    assert len(cluster.sent) == 1


async def test_a_failure_makes_way_for_a_job_with_a_new_name(step: Step, cluster: Cluster) -> None:
    told: list[Any] = []
    async with step.worker() as worker:
        worker.environment.on_heartbeat = lambda *details: told.append(details[0])
        running = asyncio.create_task(worker.run(step.call()))
        first = await cluster.new_job()
        cluster.end_pod(cluster.run_pod(first), 5)
        with pytest.raises(ApplicationError):
            await running
        worker.at_attempt(2)
        running = asyncio.create_task(worker.run(step.call(last=told[-1])))
        second = await cluster.new_job(2)
        assert second["metadata"]["name"] == f"{first['metadata']['name']}-2"
        cluster.end_pod(cluster.run_pod(second))
        assert (await running).output["exit_code"] == 0


async def test_a_job_that_failed_under_a_dead_worker_fails_the_next_attempt_and_is_not_run_again(
    step: Step, cluster: Cluster
) -> None:
    async with step.worker() as first:
        running = asyncio.create_task(first.run(step.call()))
        pod = cluster.run_pod(await cluster.new_job(), "began\n")
        first.environment.cancel(ActivityCancellationDetails(not_found=True))
        with pytest.raises(asyncio.CancelledError):
            await running
    cluster.end_pod(pod, 5)
    with pytest.raises(ApplicationError, match="ended with exit code 5: began"):
        await step.run()
    assert len(cluster.sent) == 1


async def test_a_worker_that_dies_after_a_loss_before_the_server_hears_of_it_runs_nothing_twice(
    step: Step, cluster: Cluster
) -> None:
    async with step.worker() as first:
        running = asyncio.create_task(first.run(step.call()))
        cluster.disrupt(cluster.run_pod(await cluster.new_job()))
        pod = cluster.run_pod(await cluster.new_job(2), "done\n")
        first.environment.cancel(ActivityCancellationDetails(not_found=True))
        with pytest.raises(asyncio.CancelledError):
            await running
    cluster.end_pod(pod)
    assert (await step.run()).output["stdout"] == "done\n", "without any heartbeat"
    assert len(cluster.sent) == 2


async def test_a_loss_that_a_drain_interrupts_is_counted_once(
    step: Step, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, lost = asyncio.Event(), OwnJob.lost

    async def slow(own: OwnJob) -> None:
        asked.set()
        await asyncio.sleep(0.5)
        await lost(own)

    async with step.worker() as first:
        monkeypatch.setattr(OwnJob, "lost", slow)
        running = asyncio.create_task(first.run(step.call()))
        job = await cluster.new_job()
        cluster.remove(PODS, cluster.run_pod(job))
        cluster.fail_job(job)
        await asked.wait()
        first.environment.worker_shutdown()
        first.environment.cancel(ActivityCancellationDetails(worker_shutdown=True))
        with pytest.raises(ApplicationError) as drained:
            await running
    monkeypatch.setattr(OwnJob, "lost", lost)
    again = step.begin(last=drained.value.details[1])
    cluster.end_pod(cluster.run_pod(await cluster.new_job(2)))
    assert (await again).output["exit_code"] == 0


async def test_two_attempts_at_once_share_one_job(step: Step, cluster: Cluster) -> None:
    both = [step.begin(), step.begin()]
    job = await cluster.new_job()
    await asyncio.sleep(0.1)
    cluster.end_pod(cluster.run_pod(job, "done\n"))
    assert [(await each).output["stdout"] for each in both] == ["done\n"] * 2
    assert len({sent["metadata"]["name"] for sent in cluster.sent}) == 1
    assert len(cluster.pods) == 1


async def test_the_time_of_a_job_counts_from_its_creation(step: Step, cluster: Cluster) -> None:
    running = step.begin(timeout=4.0)
    job = await cluster.new_job()
    running.cancel()
    await until(lambda: not cluster.jobs)
    cluster.put_job(job["metadata"]["name"], job["metadata"]["annotations"])
    cluster.change(JOBS, job["metadata"]["name"], {"metadata": {"creationTimestamp": stamp(ago=5)}})
    with pytest.raises(ApplicationError, match="timed out after 4 s, counted from the creation of its Job"):
        await step.run(timeout=4.0)
    assert cluster.jobs == []


async def test_the_next_attempt_begins_when_the_job_of_the_last_is_gone(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    first = await cluster.new_job()
    cluster.run_pod(first)
    cluster.collecting = False
    cluster.change(
        JOBS,
        first["metadata"]["name"],
        {"metadata": {"deletionTimestamp": stamp(), "finalizers": ["foregroundDeletion"]}},
    )
    next_one = step.begin(last={"used": 1})
    await asyncio.sleep(0.2)
    assert len(cluster.sent) == 1
    cluster.collecting = True
    await until(lambda: len(cluster.sent) >= 2)
    running.cancel()
    next_one.cancel()
