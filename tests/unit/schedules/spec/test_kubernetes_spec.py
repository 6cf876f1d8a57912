"""A `kubernetes` step: what may be written, and what it compiles to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from activities.contract import WorkerOffer
from activities.handlers.kubernetes.params import KubernetesParams, job_of
from activities.steps.params import parse_params
from activities.steps.template import render
from schedules.compile.steps import compile_steps
from schedules.lint.load import load_checked
from schedules.source.load import SpecError
from schedules.spec.handlers import need_of
from schedules.spec.kinds.kubernetes import KubernetesSpec
from tests.kubernetes import problems_of
from tests.unit.schedules.spec.test_sql_spec import GOOD

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def steps() -> dict[str, dict[str, Any]]:
    """The parameters of the good spec's steps."""
    [job] = load_checked([str(GOOD / "kubernetes.yaml")], None).jobs
    return {step.name: step.params for step in compile_steps(job)}


def test_what_is_written_is_what_the_worker_takes_and_kubernetes_too(steps: dict[str, dict[str, Any]]) -> None:
    for params in steps.values():
        request = parse_params(KubernetesParams, params)
        assert problems_of(json.dumps(job_of(request, "name", {"tickwright.key": "k"}, {"A": "b"}, 60.0))) == []
    assert steps["export"]["keep_failed"] == 172_800.0


def test_a_file_goes_to_the_worker_as_it_was_written(steps: dict[str, dict[str, Any]]) -> None:
    template = render(steps["clean"]["template"], {})
    text = 'for f in /data/{a,b}; do rm "$f"; done; echo "${DAY}"'
    assert template["spec"]["containers"][0]["command"] == ["sh", "-c", text]
    assert steps["clean"]["template_file"] == "../pods/clean.yaml"


def test_a_dry_run_leaves_out_what_only_a_run_knows(steps: dict[str, dict[str, Any]]) -> None:
    tried = {name: KubernetesSpec.trial(params) for name, params in steps.items()}
    assert tried["export"] == {
        key: value for key, value in steps["export"].items() if key not in {"command", "args", "env"}
    }
    assert tried["publish"] is not None
    assert tried["publish"]["template"]["spec"]["containers"] == [
        {"name": "publish", "image": "registry.internal/publish"}
    ]
    assert KubernetesSpec.trial({"namespace": "reports", "image": "report:{scheduled_at:%F}"}) is None


def test_people_see_namespace_and_image() -> None:
    template = {"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}}
    short = KubernetesSpec(namespace="reports", image="report:1", args=("--all",))
    assert short.described() == "kubernetes `report:1 --all` in `reports`"
    assert KubernetesSpec(namespace="reports", template=template).described() == "kubernetes `a:1, b:1` in `reports`"
    broken: dict[str, Any]
    for broken in ({}, {"spec": []}, {"spec": {"containers": "x"}}):
        assert KubernetesSpec(namespace="reports", template=broken).described()


def test_a_worker_has_to_allow_the_namespace() -> None:
    need = need_of("kubernetes", {"namespace": "reports", "image": "report:1"})
    assert need is not None
    assert need.name in need.offered(WorkerOffer([], [], namespaces=["reports"]))
    assert need.name not in need.offered(WorkerOffer([], []))
    assert need.setting == "TICKWRIGHT_KUBERNETES_NAMESPACES=reports"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"image": ""}, "is no image"),
        ({"image": None}, "is missing; write it, or `template` or `template_file`"),
        ({"memory": "512MB"}, 'write for example "512Mi"'),
        ({"cpus": 0.0}, "greater than 0"),
        ({"namespace": "a.b"}, "is no namespace"),
        ({"namespace": "{job}"}, "is no namespace"),
        ({"secrets": {"A": "b"}}, "write SECRET/KEY"),
        ({"resources": {"limits": {"cpu": 1}}, "cpus": 1.0}, "write all in `resources`"),
        ({"resources": {"limit": {"cpu": 1}}}, "limits"),
        ({"pull": "often"}, "missing"),
        ({"env": {"A=B": "x"}}, "environment variable"),
        ({"image": None, "template_file": "a.yaml"}, r"in Python, write template=\{…\}"),
    ],
)
def test_a_wrong_value_is_told_with_what_to_write(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        KubernetesSpec(**{"namespace": "reports", "image": "report:1", **fields})


def found(template: Any) -> list[tuple[tuple[str | int, ...], str]]:
    params = KubernetesSpec(namespace="reports", template=template).step_params()
    problems = KubernetesSpec.find_problems(params, {"steps.a"}, None)
    return [(problem.path[1:], problem.message.partition(";")[0]) for problem in problems]


@pytest.mark.parametrize(
    ("template", "path", "message"),
    [
        ({"spec": {}}, ("spec",), "has no `containers`"),
        ({"spec": []}, ("spec",), "has no `containers`"),
        ({"kind": "Job", "spec": {}}, ("kind",), 'is "Job", and no Pod'),
        ({"spec": {"containers": "a"}}, ("spec", "containers"), "is no list of containers"),
        ({"spec": {"containers": ["a"]}}, ("spec", "containers"), "is no list of containers"),
    ],
)
def test_what_is_no_pod_template_is_told(template: Any, path: tuple[str, ...], message: str) -> None:
    assert found(template) == [(path, message)]


def test_each_fault_of_a_template_is_told_at_its_place() -> None:
    template = {
        "specs": {},
        "metadata": {"namespace": "other"},
        "spec": {
            "restartPolicy": "Always",
            "initContainers": [{"image": "a"}],
            "containers": [
                {"name": "a", "image": "a", "args": "x"},
                {"name": "b", "image": "b", "command": ["sh", "-c"], "args": ["echo {steps.a.output.x}"]},
            ],
        },
    }
    assert found(template) == [
        (("specs",), "is no key of a pod template"),
        (("spec", "restartPolicy"), 'is "Always"'),
        (("metadata", "namespace"), 'is not the `namespace` of the step, "reports"'),
        (("spec", "initContainers", 0), "has no `name`"),
        (("spec", "containers", 0, "args"), "is no list"),
        (("spec", "containers", 1, "args", 0), "a shell would run what the step `a` has said"),
    ]


@pytest.mark.parametrize("field", ["args", "command", "env", "image", "service_account"])
def test_no_secret_of_the_worker_stands_in_a_job(field: str) -> None:
    text = "${secret:A}"
    value: Any = (text,) if field in {"args", "command"} else {"A": text} if field == "env" else text
    params = KubernetesSpec(**{"namespace": "reports", "image": "report:1", field: value}).step_params()
    [problem] = KubernetesSpec.find_problems(params, set(), None)
    assert problem.path[0] == field
    assert "put it into a Secret of the namespace" in problem.message


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        (None, "there is no file"),
        ("a: ]", "pod.yaml, line 1: "),
        ("kind: CronJob", '`kind` is "CronJob", and no Pod; write the pod template in it'),
        ("spec: {containers: [{name: a}]}", "`spec.containers.0` has no `image`; write it"),
    ],
)
def test_a_fault_of_a_file_is_told_at_its_name(tmp_path: Path, pod: str | None, words: str) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "version: 1\nproject: a\njobs:\n  a:\n    schedule: 0 3 * * *\n    timezone: UTC\n    timeout: 5m\n"
        "    run: {kubernetes: {namespace: reports, template_file: pod.yaml}}\n"
    )
    if pod is not None:
        (tmp_path / "pod.yaml").write_text(pod)
    with pytest.raises(SpecError) as caught:
        load_checked([str(spec)], None)
    [line] = str(caught.value).splitlines()
    assert line.startswith(f"{spec}:8:")
    assert "jobs.a.run.kubernetes.template_file: " in line
    assert words in line
