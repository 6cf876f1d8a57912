"""Troubles in random order: whatever happens, a step ends as its program did, and nothing runs beside it or stays behind."""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import kmock
import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError

from activities.contract import WORKER_SHUTDOWN
from tests.kubernetes import JOBS, PODS, stamp
from tests.waiting import until

if TYPE_CHECKING:
    from activities.contract import StepResult
    from tests.integration.activities.handlers.kubernetes.conftest import Step
    from tests.kubernetes import Cluster

LINES = 12
LOSSES = ("evict", "delete pod", "delete job", "node lost")


@dataclass
class Controller:
    """Gives each Job its pod, lets its program run, and does it harm; `began` and `ended` count programs that came so far."""

    cluster: Cluster
    chance: random.Random
    began: int = 0
    failures: int = 0
    losses: int = 0
    by_hand: int = 0
    alive: set[str] = field(default_factory=set)
    most_alive: int = 0

    async def run(self) -> None:
        """For ever."""
        handled: set[str] = set()
        while True:
            for job in [job for job in self.cluster.jobs if job["metadata"]["uid"] not in handled]:
                handled.add(job["metadata"]["uid"])
                if not job["metadata"].get("deletionTimestamp"):
                    await self._pod(job)
            await asyncio.sleep(0.002)

    async def _pod(self, job: dict[str, Any]) -> None:
        cluster, chance = self.cluster, self.chance
        pod = cluster.add_pod(job)
        if chance.random() < 0.3:
            state = {"waiting": {"reason": chance.choice(["ContainerCreating", "ErrImagePull"]), "message": "wait"}}
            cluster.change(PODS, pod, {"status": {"containerStatuses": [{"name": "main", "state": state}]}})
            await self._pause()
        cluster.remove(PODS, pod)
        pod = cluster.run_pod(job)
        self.began += 1
        self.alive.add(pod)
        self.most_alive = max(self.most_alive, len(self.alive))
        harm = chance.choice(LOSSES) if self.losses < 4 and chance.random() < 0.5 else ""
        if harm.startswith("delete") and self.by_hand:
            harm = "evict"
        at = chance.randrange(LINES)
        for number in range(LINES):
            cluster.say(pod, f"{pod} {number}\n")
            if harm and number == at:
                self.losses += 1
                self._harm(harm, job, pod)
                self.alive.discard(pod)
                return
            await self._pause()
        code = 0 if self.failures or chance.random() < 0.6 else 9
        self.failures += bool(code)
        if not code:
            cluster.say(pod, f'{{"pod": "{pod}"}}\n')
        self.alive.discard(pod)
        cluster.end_pod(pod, code)

    def _harm(self, harm: str, job: dict[str, Any], pod: str) -> None:
        cluster = self.cluster
        self.by_hand += harm.startswith("delete")
        if harm == "evict":
            cluster.disrupt(pod)
        elif harm == "node lost":
            cluster.change(PODS, pod, {"metadata": {"deletionTimestamp": stamp(ago=100)}})
        else:
            cluster.remove(PODS, pod)
            cluster.logs[pod].ended = cluster.logs[pod].gone = True
            cluster.fail_job(job) if harm == "delete pod" else cluster.remove(JOBS, job["metadata"]["name"])

    async def _pause(self) -> None:
        await asyncio.sleep(self.chance.random() * 0.01)


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_happens_a_step_ends_as_its_program_did(step: Step, cluster: Cluster, seed: int) -> None:
    chance = random.Random(seed)

    def fault(request: kmock.Request) -> Exception | None:
        if chance.random() > 0.05:
            return None
        status = chance.choice([410, 500]) if request.action == kmock.action.WATCH else chance.choice([429, 500, 503])
        return kmock.KubernetesError(status, "Trouble", f"trouble {status}")

    cluster.faults = fault
    cluster.watch_ends = lambda: chance.choice(["", "", "end", "410"])
    cluster.cut = lambda: chance.random() < 0.1
    controller = Controller(cluster, chance)
    controlling = asyncio.create_task(controller.run())
    attempt, last, shown = 1, None, ""
    try:
        while True:
            outcome, last, text = await _attempt(step, chance, attempt, last)
            shown += text
            if outcome == "succeeded":
                break
            attempt += outcome == "failed"
    finally:
        controlling.cancel()
    assert attempt == 1 + controller.failures, "what the cluster takes away, and workers that go, are no attempts"
    assert controller.began == 1 + controller.failures + controller.losses
    assert controller.most_alive == 1
    pod = last
    lines = re.findall(rf"{pod} ([0-9]+)\n", shown)
    assert lines == [str(number) for number in range(LINES)], "each line of it once"
    name = str(pod).rpartition("-")[0]
    await until(lambda: name not in {job["metadata"]["name"] for job in cluster.jobs})


async def _attempt(step: Step, chance: random.Random, number: int, last: Any) -> tuple[str, Any, str]:
    """How it ended, its last heartbeat (of a success: the pod), and what people were shown of it."""
    beats: list[Any] = [last]
    async with step.worker() as worker:
        worker.environment.on_heartbeat = lambda *details: beats.append(details[0] if details else None)
        worker.at_attempt(number)
        running: asyncio.Task[StepResult] = asyncio.create_task(worker.run(step.call(last=last)))
        if chance.random() < 0.4:
            await asyncio.wait([running], timeout=chance.random() * 0.2)
            if not running.done():
                worker.environment.worker_shutdown()
                worker.environment.cancel(ActivityCancellationDetails(worker_shutdown=True))
        await asyncio.wait([running])
    error = running.exception()
    if error is None:
        return "succeeded", running.result().output["pod"], running.result().output["stdout"]
    assert isinstance(error, ApplicationError)
    told = str(error.details[0].get("stdout", ""))
    if error.type == WORKER_SHUTDOWN:
        return "drained", error.details[1] if len(error.details) > 1 else last, told
    assert "exit code 9" in error.message
    return "failed", beats[-1], told
