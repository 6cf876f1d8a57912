"""Troubles that Jobs have elsewhere, one after the other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import kmock
import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError

from tests.kubernetes import JOBS, PODS, stamp
from tests.waiting import until

if TYPE_CHECKING:
    from activities.contract import StepResult
    from tests.integration.activities.handlers.kubernetes.conftest import Step
    from tests.kubernetes import Cluster

STEP = "activities.handlers.kubernetes.step"


async def ended(running: asyncio.Task[StepResult]) -> ApplicationError:
    with pytest.raises(ApplicationError) as caught:
        await running
    return caught.value


def finish(cluster: Cluster, job: dict[str, Any]) -> None:
    pod = cluster.run_pod(job, "done\n")
    cluster.end_pod(pod)


@pytest.mark.parametrize("reason", ["EvictionByEvictionAPI", "PreemptionByScheduler", "TerminationByKubelet"])
async def test_a_pod_that_the_cluster_takes_away_is_started_again_and_counts_as_no_attempt(
    step: Step, cluster: Cluster, reason: str
) -> None:
    running = step.begin()
    first = await cluster.new_job()
    cluster.disrupt(cluster.run_pod(first, "lost\n"), reason)
    second = await cluster.new_job(2)
    assert second["metadata"]["name"] == f"{first['metadata']['name']}-2"
    finish(cluster, second)
    result = await running
    assert (result.output["stdout"], result.attempts) == ("done\n", 1)
    assert "its pod was taken away, and is started again" in result.log
    assert reason in result.log


@pytest.mark.parametrize("reason", ["Preempting", "NodeShutdown", "OutOfmemory", "UnexpectedAdmissionError"])
async def test_a_pod_that_its_node_refuses_or_gives_up_is_started_again(
    step: Step, cluster: Cluster, reason: str
) -> None:
    running = step.begin()
    pod = cluster.add_pod(await cluster.new_job())
    cluster.change(PODS, pod, {"status": {"phase": "Failed", "reason": reason}})
    finish(cluster, await cluster.new_job(2))
    assert (await running).attempts == 1


async def test_a_pod_that_takes_more_disk_than_it_may_has_failed(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    pod = cluster.run_pod(await cluster.new_job())
    message = "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi."
    cluster.change(PODS, pod, {"status": {"phase": "Failed", "reason": "Evicted", "message": message}})
    assert (await ended(running)).message == f"`report:1` failed: Evicted: {message}"


async def test_a_pod_is_not_taken_away_for_ever(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    for number in range(6):
        cluster.disrupt(cluster.run_pod(await cluster.new_job(number + 1)))
    failed = await ended(running)
    assert failed.message.startswith("its pod was taken away 6 times; the last time: EvictionByEvictionAPI")
    assert not failed.non_retryable


async def test_a_pod_whose_node_is_lost_is_started_again(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    pod = cluster.run_pod(await cluster.new_job())
    cluster.change(PODS, pod, {"metadata": {"deletionTimestamp": stamp(ago=61)}})
    finish(cluster, await cluster.new_job(2))
    assert "its node does not answer; its pod may still run there" in (await running).log


async def test_a_pod_deleted_by_hand_is_started_again_and_the_second_one_is_a_failure(
    step: Step, cluster: Cluster
) -> None:
    running = step.begin()
    for count in (1, 2):
        job = await cluster.new_job(count)
        cluster.remove(PODS, cluster.run_pod(job))
        cluster.fail_job(job)
    failed = await ended(running)
    assert failed.message == "its pod was taken away 2 times; the last time: its pod was deleted by somebody"
    assert not failed.non_retryable


async def test_a_job_deleted_by_hand_is_made_again_under_its_name(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    first = await cluster.new_job()
    cluster.remove(PODS, cluster.run_pod(first))
    cluster.remove(JOBS, first["metadata"]["name"])
    await until(lambda: len(cluster.sent) == 2)
    second = await cluster.new_job()
    assert second["metadata"]["name"] == first["metadata"]["name"]
    finish(cluster, second)
    assert (await running).output["stdout"] == "done\n"


async def test_a_pod_that_ends_while_it_is_being_deleted_by_hand_is_no_failure_of_its_program(
    step: Step, cluster: Cluster
) -> None:
    running = step.begin()
    pod = cluster.run_pod(await cluster.new_job())
    cluster.change(PODS, pod, {"metadata": {"deletionTimestamp": stamp()}})
    cluster.end_pod(pod, 143)
    finish(cluster, await cluster.new_job(2))
    assert (await running).attempts == 1


@pytest.mark.parametrize("reason", ["InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"])
async def test_what_the_spec_has_wrong_fails_for_good_and_at_once(step: Step, cluster: Cluster, reason: str) -> None:
    running = step.begin()
    pod = cluster.add_pod(await cluster.new_job())
    waits(cluster, pod, reason, 'secret "warehouse" not found')
    failed = await ended(running)
    assert failed.message == f'its pod cannot be started: {reason}: secret "warehouse" not found'
    assert failed.non_retryable
    assert cluster.jobs == [], "it could start later"


def waits(cluster: Cluster, pod: str, reason: str, message: str) -> None:
    state = {"waiting": {"reason": reason, "message": message}}
    cluster.change(PODS, pod, {"status": {"containerStatuses": [{"name": "main", "state": state}]}})


async def test_an_image_that_cannot_be_pulled_has_a_grace(
    step: Step, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.handlers.kubernetes.pending.PULL_SECONDS", 0.3)
    running, began = step.begin(), asyncio.get_running_loop().time()
    pod = cluster.add_pod(await cluster.new_job())
    waits(cluster, pod, "ErrImagePull", "not found")
    await asyncio.sleep(0.1)
    waits(cluster, pod, "ImagePullBackOff", "Back-off pulling image")
    failed = await ended(running)
    assert failed.message == "its pod cannot be started: ImagePullBackOff: Back-off pulling image"
    assert failed.non_retryable
    assert asyncio.get_running_loop().time() - began >= 0.3
    assert cluster.jobs == []


async def test_an_image_that_is_there_within_the_grace_runs(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    pod = cluster.add_pod(job := await cluster.new_job())
    waits(cluster, pod, "ErrImagePull", "registry is away")
    await asyncio.sleep(0.1)
    cluster.remove(PODS, pod)
    finish(cluster, job)
    assert "ErrImagePull: registry is away" in (await running).log


@pytest.mark.parametrize("start_timeout", [0.3, None])
async def test_a_pod_without_a_node_is_waited_for_as_long_as_it_may(
    step: Step, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, start_timeout: float | None
) -> None:
    monkeypatch.setattr("activities.handlers.kubernetes.pending._MARGIN", 0.9)
    monkeypatch.setattr(f"{STEP}._PENDING_SECONDS", 60.0)
    running = step.begin(start_timeout=start_timeout, timeout=5.0)
    message = "0/3 nodes are available: 3 Insufficient memory."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    cluster.add_pod(await cluster.new_job(), conditions=[condition])
    failed = await ended(running)
    limit = start_timeout or 0.5
    assert failed.message == f"its pod was not started within {limit:g} s: Unschedulable: {message}"
    assert not failed.non_retryable
    assert cluster.jobs == []


async def test_a_pod_for_which_there_is_no_quota_is_waited_for(step: Step, cluster: Cluster) -> None:
    running = step.begin(start_timeout=0.4)
    job = await cluster.new_job()
    cluster.warn(job["metadata"]["uid"], "FailedCreate", "exceeded quota: compute")
    assert (
        await ended(running)
    ).message == "its pod was not started within 0.4 s: FailedCreate: exceeded quota: compute"


async def test_a_job_for_which_there_is_no_quota_is_asked_for_again(step: Step, cluster: Cluster) -> None:
    refusals = 3

    def no_room(request: kmock.Request) -> Exception | None:
        nonlocal refusals
        if request.action != kmock.action.CREATE or not refusals:
            return None
        refusals -= 1
        return kmock.KubernetesError(403, "Forbidden", "exceeded quota: jobs")

    cluster.faults = no_room
    running = step.begin()
    finish(cluster, await cluster.new_job())
    assert "exceeded quota: jobs" in (await running).log


async def test_what_a_worker_may_not_do_is_told_and_nothing_stays_behind(step: Step, cluster: Cluster) -> None:
    message = 'pods is forbidden: User "worker" cannot list resource "pods"'
    cluster.faults = lambda request: (
        kmock.KubernetesError(403, "Forbidden", message) if request.resource == PODS else None
    )
    failed = await ended(step.begin())
    assert (failed.message, failed.non_retryable) == (f"the cluster refused: {message}", True)
    assert cluster.jobs == []


async def test_a_cluster_whose_api_is_away_for_a_while_costs_no_attempt(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    pod = cluster.run_pod(await cluster.new_job(), "done\n")
    cluster.faults = lambda _: kmock.KubernetesError(503, "ServiceUnavailable", "etcd is away")
    cluster.end_pod(pod)
    await asyncio.sleep(0.3)
    cluster.faults = lambda _: None
    result = await running
    assert result.output["stdout"] == "done\n"
    assert "the cluster's API does not answer" in result.log


async def test_a_cluster_whose_api_stays_away_fails_the_attempt(
    step: Step, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.handlers.kubernetes.cluster.Cluster.__init__.__kwdefaults__", {"patience": 0.1})
    cluster.faults = lambda _: kmock.KubernetesError(503, "ServiceUnavailable", "etcd is away")
    failed = await ended(step.begin())
    assert (failed.message, failed.non_retryable) == ("the cluster's API does not answer: etcd is away", False)


async def test_without_a_way_to_a_cluster_the_step_says_so(
    step: Step, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    failed = await ended(step.begin())
    assert failed.message.startswith("there is no way to a cluster: Configuration file /nowhere not found; ")


@pytest.mark.parametrize("ending", ["end", "410"])
async def test_a_watch_that_ends_is_begun_again(step: Step, cluster: Cluster, ending: str) -> None:
    cluster.watch_ends = lambda: ending
    running = step.begin()
    job = await cluster.new_job()
    await asyncio.sleep(0.1)
    finish(cluster, job)
    assert (await running).output["stdout"] == "done\n"


@pytest.mark.parametrize("status", [410, 500])
async def test_a_watch_that_is_refused_is_done_without(step: Step, cluster: Cluster, status: int) -> None:
    refusal = kmock.KubernetesError(status, "Expired", "too old resource version")
    cluster.faults = lambda request: refusal if request.action == kmock.action.WATCH else None
    running = step.begin()
    finish(cluster, await cluster.new_job())
    assert (await running).output["stdout"] == "done\n"


async def test_a_change_is_noticed_at_once(step: Step, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{STEP}._PENDING_SECONDS", 60.0)
    running = step.begin()
    pod = cluster.add_pod(await cluster.new_job())
    await asyncio.sleep(0.2)
    began = asyncio.get_running_loop().time()
    cluster.end_pod(pod)
    await running
    assert asyncio.get_running_loop().time() - began < 5


async def test_a_log_that_breaks_off_is_read_again_and_no_line_is_lost_or_doubled(step: Step, cluster: Cluster) -> None:
    breaks = iter([True, False, True, True])
    cluster.cut = lambda: next(breaks, False)
    running = step.begin()
    pod = cluster.run_pod(await cluster.new_job())
    for number in range(20):
        cluster.say(pod, f"line {number} ä\n")
        await asyncio.sleep(0.01)
    cluster.end_pod(pod)
    assert (await running).output["stdout"] == "".join(f"line {number} ä\n" for number in range(20))


async def test_a_cancelled_step_sees_its_job_gone(step: Step, cluster: Cluster) -> None:
    async with step.worker() as worker:
        running = asyncio.create_task(worker.run(step.call()))
        cluster.run_pod(await cluster.new_job())
        worker.environment.cancel(ActivityCancellationDetails(cancel_requested=True))
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (cluster.jobs, cluster.pods) == ([], [])


async def test_a_step_cancelled_while_its_job_is_being_made_leaves_none(step: Step, cluster: Cluster) -> None:
    async with step.worker() as worker:
        cluster.slowness = 0.2
        running = asyncio.create_task(worker.run(step.call()))
        await until(lambda: ("jobs", "create") in cluster.used)
        worker.environment.cancel(ActivityCancellationDetails(cancel_requested=True))
        with pytest.raises(asyncio.CancelledError):
            await running
        assert len(cluster.sent) == 1
        assert cluster.jobs == []


async def test_a_step_that_is_out_of_time_sees_its_job_gone_and_has_its_last_words(
    step: Step, cluster: Cluster
) -> None:
    running = step.begin(timeout=3.0)
    cluster.run_pod(await cluster.new_job(), "line 1\n")
    failed = await ended(running)
    assert failed.message == "timed out after 3 s"
    assert failed.details[0]["stdout"] == "line 1\n"
    assert cluster.jobs == []


async def test_a_job_that_the_cluster_itself_has_ended_is_out_of_time(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    cluster.fail_job(await cluster.new_job(), "DeadlineExceeded")
    assert (await ended(running)).message == "`report:1` failed: timed out, and the cluster ended it"
