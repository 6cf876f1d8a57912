"""What the Kubernetes manifests promise, after kubectl has built them."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from activities.contract import STOP_GRACE
from schedules.duration import parse_duration
from schedules.load import load_checked
from tests.manifests import FOLDER, ROOTS, VERSIONS, built, problems
from tests.readme import ROOT
from worker.lifecycle import LAST_REPORTS
from worker.settings import PREFIX, WorkerSettings

MEMORY = {"Mi": 1, "Gi": 1024}


def resource(root: str, kind: str) -> dict[str, Any]:
    [found] = [one for one in built(root) if one["kind"] == kind]
    return found


def pods() -> list[tuple[str, dict[str, Any]]]:
    workloads = [resource("worker", "Deployment"), resource("sync", "Job")]
    return [(one["kind"], one["spec"]["template"]["spec"]) for one in workloads]


def worker_container() -> dict[str, Any]:
    [container] = resource("worker", "Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(container)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_manifests_are_what_kubernetes_takes(root: str, version: str) -> None:
    assert problems(root, version) == []


def test_the_schemas_see_a_misspelt_key(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = resource("worker", "Deployment") | {"spec": {"replica": 2}}
    monkeypatch.setattr("tests.manifests.built", lambda root: [wrong])
    assert problems("worker", VERSIONS[0]) != []


@pytest.mark.parametrize(("kind", "pod"), pods())
def test_a_pod_has_no_right_that_it_does_not_need(kind: str, pod: dict[str, Any]) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    [container] = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"name": "tmp", "mountPath": "/tmp"} in container["volumeMounts"]
    assert not [volume for volume in pod["volumes"] if "hostPath" in volume]


@pytest.mark.parametrize(("kind", "pod"), pods())
def test_a_pod_runs_as_the_user_of_the_image_and_within_bounds(kind: str, pod: dict[str, Any]) -> None:
    user = f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}"
    assert f"USER {user}\n" in (ROOT / "Dockerfile").read_text()
    [container] = pod["containers"]
    requests, limits = container["resources"]["requests"], container["resources"]["limits"]
    assert requests.keys() == {"cpu", "memory"}
    assert mebibytes(requests["memory"]) <= mebibytes(limits["memory"])


def mebibytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)([MG]i)", text)
    assert found
    return int(found[1]) * MEMORY[found[2]]


def test_the_grace_period_outlasts_the_drain() -> None:
    pod = resource("worker", "Deployment")["spec"]["template"]["spec"]
    given = {item["name"]: item["value"] for item in worker_container()["env"]}
    drain = parse_duration(given["TICKWRIGHT_DRAIN_TIMEOUT"]).total_seconds()
    assert pod["terminationGracePeriodSeconds"] >= drain + STOP_GRACE + LAST_REPORTS


def test_every_variable_is_a_setting() -> None:
    names = {item["name"].removeprefix(PREFIX).lower() for item in worker_container()["env"]}
    assert names <= WorkerSettings.model_fields.keys()


def test_liveness_does_not_depend_on_the_server_and_readiness_does() -> None:
    container = worker_container()
    assert container["startupProbe"]["httpGet"]["path"] == "/livez"
    assert container["livenessProbe"]["httpGet"]["path"] == "/livez"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    [port] = container["ports"]
    assert f"0.0.0.0:{port['containerPort']}" in [item["value"] for item in container["env"]]


def test_a_rollout_and_a_drained_node_leave_workers_that_poll() -> None:
    spec = resource("worker", "Deployment")["spec"]
    assert spec["replicas"] >= 2
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert resource("worker", "PodDisruptionBudget")["spec"]["maxUnavailable"] < spec["replicas"]


@pytest.mark.parametrize("kind", ["PodDisruptionBudget", "NetworkPolicy"])
def test_what_selects_pods_selects_the_workers(kind: str) -> None:
    labels = resource("worker", "Deployment")["spec"]["template"]["metadata"]["labels"]
    spec = resource("worker", kind)["spec"]
    wanted = (spec.get("selector") or spec["podSelector"])["matchLabels"]
    assert wanted.items() <= labels.items()


def test_the_policies_let_in_the_metrics_port_alone_and_close_the_rest() -> None:
    policy = resource("worker", "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert [port["port"] for rule in policy["ingress"] for port in rule["ports"]] == [9464]
    assert "ingress" not in resource("sync", "NetworkPolicy")["spec"]
    for root in ("worker", "sync"):
        egress = resource(root, "NetworkPolicy")["spec"]["egress"]
        assert all(rule.get("to") and rule.get("ports") for rule in egress)


@pytest.mark.parametrize("root", ROOTS)
def test_every_config_map_that_a_pod_reads_is_made(root: str) -> None:
    made = {one["metadata"]["name"] for one in built(root) if one["kind"] == "ConfigMap"}
    text = yaml.safe_dump([one for one in built(root) if one["kind"] in {"Deployment", "Job"}])
    read = set(re.findall(r"configMap(?:Ref)?:\s+name: (\S+)", text))
    assert read
    assert read <= made


def test_the_autoscaler_alone_says_how_many_workers_there_are() -> None:
    deployment, scaler = resource("autoscaled", "Deployment"), resource("autoscaled", "HorizontalPodAutoscaler")
    assert "replicas" not in deployment["spec"]
    assert scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert scaler["spec"]["minReplicas"] == resource("worker", "Deployment")["spec"]["replicas"]


def test_the_specs_of_the_job_are_right() -> None:
    assert load_checked([str(FOLDER / "sync" / "jobs.yaml")], None).jobs
    [container] = resource("sync", "Job")["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["tickwright", "sync", "/specs"]
    assert {"name": "specs", "mountPath": "/specs", "readOnly": True} in container["volumeMounts"]
