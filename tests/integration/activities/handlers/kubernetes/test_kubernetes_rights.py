"""What a worker needs of its cluster, and how it says before a sync that something is missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import kmock
import pytest
import yaml

from activities.contract import Trial
from activities.handlers.table import Handlers
from activities.steps.fitness import Fitness
from activities.steps.secrets import SecretStore
from schedules.spec.kinds.kubernetes import KubernetesSpec
from tests.kubernetes import JOBS, NAMESPACE
from tests.manifests import FOLDER
from tests.step_calls import bench
from tests.waiting import until

if TYPE_CHECKING:
    from tests.integration.activities.handlers.kubernetes.conftest import Step
    from tests.kubernetes import Cluster


async def test_the_role_gives_the_rights_that_a_worker_uses_and_no_other(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    job = await cluster.new_job()
    await until(lambda: ("events", "list") in cluster.used)
    pod = cluster.run_pod(job, "done\n")
    await until(lambda: {("pods/log", "get"), ("pods", "watch")} <= cluster.used)
    cluster.end_pod(pod)
    await running
    await until(lambda: not cluster.jobs)
    [role, _] = yaml.safe_load_all((FOLDER / "jobs" / "role.yaml").read_text())
    given = {(thing, verb) for rule in role["rules"] for thing in rule["resources"] for verb in rule["verbs"]}
    assert given == cluster.used


async def trouble(step: Step, params: dict[str, Any], *, namespaces: tuple[str, ...] = (NAMESPACE,)) -> str:
    """What preflight hears from a worker."""
    async with step.worker() as worker:
        parts = worker.activities._handlers.parts
        object.__setattr__(parts, "kubernetes_namespaces", namespaces)
        [told] = await Fitness(Handlers(parts), SecretStore({}, None)).troubles([Trial("kubernetes", params)])
    return told


def tried(**fields: Any) -> dict[str, Any]:
    params = KubernetesSpec(**{"namespace": NAMESPACE, "image": "report:1", "args": ("{scheduled_at}",), **fields})
    found = KubernetesSpec.trial(params.step_params())
    assert found is not None
    return found


async def test_before_a_sync_the_worker_sends_the_job_as_a_dry_run(step: Step, cluster: Cluster) -> None:
    assert await trouble(step, tried(memory="64Mi")) == ""
    [sent] = cluster.sent
    assert sent["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] == {"memory": "64Mi"}
    assert cluster.jobs == []
    [request] = [request for request in cluster._requests if request.action == kmock.action.CREATE]
    assert dict(request.params) == {"dryRun": "All", "fieldValidation": "Strict"}


async def test_what_the_cluster_says_against_it_is_told(step: Step, cluster: Cluster) -> None:
    message = 'jobs.batch is forbidden: User "worker" cannot create resource "jobs"'
    cluster.faults = lambda request: (
        kmock.KubernetesError(403, "Forbidden", message) if request.resource == JOBS else None
    )
    assert await trouble(step, tried()) == message


async def test_a_worker_without_the_namespace_the_extra_or_a_cluster_says_so(
    step: Step, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.handlers.kubernetes.run._TRIAL_SECONDS", 0.05)
    assert "are not allowed on this worker" in await trouble(step, tried(), namespaces=())
    cluster.faults = lambda _: kmock.KubernetesError(503, "ServiceUnavailable", "etcd is away")
    assert await trouble(step, tried()) == "the cluster's API does not answer: etcd is away"
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    assert (await trouble(step, tried())).startswith("there is no way to a cluster: ")
    monkeypatch.setattr("activities.handlers.kubernetes.run.find_spec", lambda _: None)
    assert "install `tickwright[kubernetes]`" in await trouble(step, tried())


REAL = os.environ.get("KUBECONFIG", "")


@pytest.mark.skipif(not REAL, reason="no cluster to test with: KUBECONFIG is not set")
async def test_on_a_real_cluster_a_job_runs_and_gives_its_output(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", REAL)
    argv = ["sh", "-c", """echo '{{"rows": 3}}'"""]
    async with bench(kubernetes_namespaces=("default",)) as worker:
        result = await worker.run(step.call(command=argv, image="busybox", namespace="default", timeout=180.0))
    assert result.output["rows"] == 3
