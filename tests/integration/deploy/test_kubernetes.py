"""What the Kubernetes manifests promise, after kubectl has built them."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from activities.contract import STOP_GRACE
from schedules.lint.load import load_checked
from schedules.text.duration import parse_duration
from tests.manifests import COMPLETE, EXAMPLE, FOLDER, ROOTS, VERSIONS, built, problems
from tests.prometheus import needs_promtool, promtool
from tests.readme import ROOT
from worker.process.lifecycle import LAST_REPORTS
from worker.settings import PREFIX, WorkerSettings

MEMORY = {"Mi": 1, "Gi": 1024}
NAMED = r"(?:configMap(?:Ref)?|secretRef):\s+name: (\S+)|secretName: (\S+)"


POD_KINDS = {"Deployment": ("worker", "monitor", "board"), "Job": ("sync",)}
NAMES = {53, 5353}
"""Ports of resolvers; they may be anywhere."""


def resource(root: str, kind: str) -> dict[str, Any]:
    [found] = [one for one in built(root) if one["kind"] == kind]
    return found


def named(root: str, kind: str, name: str) -> dict[str, Any]:
    [found] = [one for one in built(root) if one["kind"] == kind and one["metadata"]["name"] == f"tickwright-{name}"]
    return found


def pods(root: str = EXAMPLE) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, named(root, kind, name)["spec"]["template"]["spec"])
        for kind, names in POD_KINDS.items()
        for name in names
    ]


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


@pytest.mark.parametrize(("name", "pod"), pods())
def test_a_pod_has_no_right_that_it_does_not_need(name: str, pod: dict[str, Any]) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False, "the Service of the monitor would become TICKWRIGHT_MONITOR_… variables"
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


@pytest.mark.parametrize(("name", "pod"), pods())
def test_a_pod_runs_as_the_user_of_the_image_and_within_bounds(name: str, pod: dict[str, Any]) -> None:
    user = f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}"
    assert f"USER {user}\n" in (ROOT / "Dockerfile").read_text()
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsGroup"], "or it cannot read its Secrets"
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


@pytest.mark.parametrize(
    ("root", "kind", "workload"),
    [
        ("worker", "PodDisruptionBudget", "Deployment"),
        ("worker", "NetworkPolicy", "Deployment"),
        ("monitor", "NetworkPolicy", "Deployment"),
        ("board", "NetworkPolicy", "Deployment"),
        ("sync", "NetworkPolicy", "Job"),
    ],
)
def test_what_selects_pods_selects_those_of_its_folder(root: str, kind: str, workload: str) -> None:
    labels = resource(root, workload)["spec"]["template"]["metadata"]["labels"]
    spec = resource(root, kind)["spec"]
    wanted = (spec.get("selector") or spec["podSelector"])["matchLabels"]
    assert wanted.items() <= labels.items()


@pytest.mark.parametrize("name", ["worker", "monitor", "board", "sync"])
def test_a_policy_lets_in_the_metrics_port_alone_and_closes_the_rest(name: str) -> None:
    policy = resource(name, "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert [port["port"] for rule in policy.get("ingress", []) for port in rule["ports"]] == [9464] * (name != "sync")
    assert all(rule.get("to") or {port["port"] for port in rule["ports"]} == NAMES for rule in policy["egress"])


@pytest.mark.parametrize("name", ["worker", "monitor", "board", "sync"])
def test_names_are_asked_for_wherever_the_resolver_is(name: str) -> None:
    [rule] = [rule for rule in resource(name, "NetworkPolicy")["spec"]["egress"] if "to" not in rule]
    assert {(port["protocol"], port["port"]) for port in rule["ports"]} == {
        (protocol, port) for protocol in ("UDP", "TCP") for port in NAMES
    }


def test_steps_may_call_services_over_both_versions_of_ip_but_no_clouds_metadata() -> None:
    [rule] = [rule for rule in resource("worker", "NetworkPolicy")["spec"]["egress"] if rule["ports"][0]["port"] == 443]
    blocks = [each["ipBlock"] for each in rule["to"]]
    closed = [ip_network(each) for block in blocks for each in block["except"]]
    assert [block["cidr"] for block in blocks] == ["0.0.0.0/0", "::/0"]
    for metadata in ("169.254.169.254", "fd00:ec2::254", "fd20:ce::254"):
        assert any(ip_address(metadata) in network for network in closed)


@pytest.mark.parametrize("root", [EXAMPLE, COMPLETE])
def test_an_overlay_holds_workers_monitor_and_sync_at_once_with_all_that_they_read(root: str) -> None:
    made = {one["metadata"]["name"] for one in built(root) if one["kind"] in {"ConfigMap", "Secret"}}
    for _, pod in pods(root):
        read = {"".join(found) for found in re.findall(NAMED, yaml.safe_dump(pod))}
        assert len(read & made) >= 3
        assert {name for name in read - made if root == EXAMPLE} <= {
            "tickwright-tls",
            "tickwright-codec",
            "tickwright-board",
        }
        assert root == EXAMPLE or read <= made


def test_a_changed_configuration_replaces_the_pods() -> None:
    made = {one["metadata"]["name"] for one in built(COMPLETE) if one["kind"] in {"ConfigMap", "Secret"}}
    assert len(made) == 8
    assert all(re.fullmatch(r"tickwright-[a-z]+-[a-z0-9]{10}", name) for name in made)


def test_every_pod_runs_your_image_and_it_is_the_build() -> None:
    images = {container["image"] for _, pod in pods() for container in pod["containers"]}
    [container] = named(EXAMPLE, "Deployment", "worker")["spec"]["template"]["spec"]["containers"]
    [build] = [item["value"] for item in container["env"] if item["name"] == "TICKWRIGHT_BUILD_ID"]
    assert images == {build}
    assert build.startswith("registry.example.com/")


def test_no_variable_is_empty_and_takes_away_what_the_image_says() -> None:
    given = [item["value"] for _, pod in pods() for item in pod["containers"][0].get("env", [])]
    configured = [value for one in built(EXAMPLE) if one["kind"] == "ConfigMap" for value in one["data"].values()]
    assert given
    assert all(given + configured)


@pytest.mark.parametrize(("name", "pod"), pods(COMPLETE))
def test_files_for_tls_and_encryption_are_where_their_variables_say(name: str, pod: dict[str, Any]) -> None:
    [container] = pod["containers"]
    at = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    secrets = {volume["name"]: volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume}
    keys = {one["metadata"]["name"]: one["data"].keys() for one in built(COMPLETE) if one["kind"] == "Secret"}
    [connection] = [
        one["data"] for one in built(COMPLETE) if one["metadata"]["name"].startswith("tickwright-connection")
    ]
    files = [Path(value) for variable, value in connection.items() if variable.endswith(("_PATH", "_FILE"))]
    assert len(files) == 4
    for file in files:
        assert file.name in keys[secrets[at[str(file.parent)]]]


def test_settings_in_the_example_are_ones_that_a_worker_takes() -> None:
    given = [name for one in built(COMPLETE) if one["kind"] == "ConfigMap" for name in one["data"]]
    ours = {name.removeprefix(PREFIX).lower() for name in given if name.startswith(PREFIX)}
    assert ours - {"codec_keys_file"} <= WorkerSettings.model_fields.keys()
    assert {"modules", "allow_commands", "codec_keys_file"} <= ours


def test_the_patches_of_the_example_open_what_they_say() -> None:
    rules = {
        name: named(COMPLETE, "NetworkPolicy", name)["spec"]["egress"]
        for name in ("worker", "monitor", "board", "sync")
    }
    for egress in rules.values():
        [temporal] = [rule for rule in egress if rule["ports"][0]["port"] == 7233]
        assert "to" not in temporal
    opened = [{port["port"] for port in rule["ports"]} for rule in rules["worker"][-2:]]
    assert opened == [{5432, 587}, {6443}]
    tokens = {name: pod["automountServiceAccountToken"] for name, pod in pods(COMPLETE)}
    assert tokens == {"worker": True, "monitor": False, "board": False, "sync": False}


@pytest.mark.parametrize(("name", "pod"), pods(COMPLETE))
def test_the_patch_for_openshift_leaves_the_user_to_it_but_no_root(name: str, pod: dict[str, Any]) -> None:
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def test_secrets_of_yours_are_kept_out_of_the_repository() -> None:
    folder = FOLDER / EXAMPLE / "secret"
    assert {"*", "!.gitignore"} <= set((folder / ".gitignore").read_text().splitlines())
    for file in folder.glob("*.env"):
        assert all(line.startswith("#") for line in file.read_text().splitlines())


@pytest.mark.parametrize("name", ["monitor", "board"])
def test_what_looks_on_is_alive_without_the_server_and_ready_once_it_has_looked(name: str) -> None:
    [container] = named(EXAMPLE, "Deployment", name)["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["tickwright", name, "/specs"]
    assert [container[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")] == [
        "/livez",
        "/livez",
        "/readyz",
    ]


@pytest.mark.parametrize("name", ["monitor", "board"])
def test_a_service_leads_to_the_port_of_its_pods(name: str) -> None:
    template = named(EXAMPLE, "Deployment", name)["spec"]["template"]
    service = resource(name, "Service")["spec"]
    [port], [container_port] = service["ports"], template["spec"]["containers"][0]["ports"]
    assert service["selector"].items() <= template["metadata"]["labels"].items()
    assert (port["targetPort"], port["port"]) == (container_port["name"], container_port["containerPort"])


@needs_promtool
def test_the_rule_for_prometheus_adapter_asks_for_what_the_autoscaler_wants(tmp_path: Path) -> None:
    values = yaml.safe_load((FOLDER / "autoscaled" / "prometheus-adapter.yaml").read_text())
    [rule] = values["rules"]["external"]
    series = re.split(r"[{]", rule["seriesQuery"])[0]
    metric = resource("autoscaled", "HorizontalPodAutoscaler")["spec"]["metrics"][0]["external"]["metric"]
    asked = ",".join(
        [*(f'{name}="{value}"' for name, value in metric["selector"]["matchLabels"].items()), 'namespace="n"']
    )
    query = rule["metricsQuery"].replace("<<.Series>>", series).replace("<<.LabelMatchers>>", asked)
    (tmp_path / "rules.yml").write_text(
        yaml.safe_dump({"groups": [{"name": "g", "rules": [{"record": "r", "expr": query}]}]})
    )
    tests = {
        "rule_files": ["rules.yml"],
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": f"{series}{{{labels}}}", "values": value}
                    for labels, value in (
                        ('task_queue="tickwright",kind="activity",namespace="n",pod="a"', "70"),
                        ('task_queue="tickwright",kind="activity",namespace="n",pod="b"', "71"),
                        ('task_queue="tickwright",kind="workflow",namespace="n",pod="a"', "900"),
                        ('task_queue="tickwright",kind="activity",namespace="other",pod="c"', "901"),
                        ('task_queue="other",kind="activity",namespace="n",pod="d"', "902"),
                    )
                ],
                "promql_expr_test": [
                    {
                        "expr": query,
                        "eval_time": "0m",
                        "exp_samples": [{"labels": '{task_queue="tickwright"}', "value": 71}],
                    }
                ],
            }
        ],
    }
    (tmp_path / "tests.yml").write_text(yaml.safe_dump(tests))

    assert metric["name"] == series
    assert "SUCCESS" in promtool("test", "rules", tmp_path / "tests.yml")


def test_the_autoscaler_alone_says_how_many_workers_there_are() -> None:
    deployment, scaler = resource("autoscaled", "Deployment"), resource("autoscaled", "HorizontalPodAutoscaler")
    assert "replicas" not in deployment["spec"]
    assert scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert scaler["spec"]["minReplicas"] == resource("worker", "Deployment")["spec"]["replicas"]


def test_the_specs_of_the_job_are_right() -> None:
    assert load_checked([str(FOLDER / EXAMPLE / "jobs.yaml")], None).jobs
    [container] = resource("sync", "Job")["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["tickwright", "sync", "/specs"]
    assert {"name": "specs", "mountPath": "/specs", "readOnly": True} in container["volumeMounts"]
