"""What a `kubernetes` step does and gives back, with the real client and a cluster in memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.handlers.lasting import KEY
from tests.kubernetes import Log
from tests.waiting import until

if TYPE_CHECKING:
    from activities.contract import StepResult
    from tests.integration.activities.handlers.kubernetes.conftest import Step
    from tests.kubernetes import Cluster

TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"team": "data"}, "annotations": {"kubectl.kubernetes.io/default-container": "report"}},
    "spec": {
        "terminationGracePeriodSeconds": 20,
        "priorityClassName": "batch",
        "initContainers": [{"name": "prepare", "image": "prepare:1"}],
        "containers": [
            {"name": "proxy", "image": "proxy:1"},
            {
                "name": "report",
                "image": "report:2",
                "env": [
                    {"name": "TICKWRIGHT_JOB", "value": "mine"},
                    {"name": "DAY", "value": "$(TICKWRIGHT_SCHEDULED_AT)"},
                ],
            },
        ],
    },
}


async def test_output_keys_come_from_the_last_line_and_the_job_is_deleted(step: Step, cluster: Cluster) -> None:
    running = step.begin("--all")
    job = await cluster.new_job()
    pod = cluster.run_pod(job, "first\n")
    cluster.say(pod, '{"rows": 3}\n')
    cluster.end_pod(pod)
    result = await running
    assert result.output == {"rows": 3, "exit_code": 0, "stdout": 'first\n{"rows": 3}\n', "stderr": ""}
    assert job["metadata"]["annotations"][KEY].endswith("/run")
    assert len(job["metadata"]["name"]) <= 63
    await until(lambda: not cluster.jobs)


async def failure(step: Step, **options: Any) -> ApplicationError:
    with pytest.raises(ApplicationError) as caught:
        await step.run(**options)
    return caught.value


async def ended(running: asyncio.Task[StepResult]) -> ApplicationError:
    with pytest.raises(ApplicationError) as caught:
        await running
    return caught.value


@pytest.mark.parametrize(
    ("code", "reason", "permanent", "message"),
    [
        (3, "", True, "`report:1` ended with exit code 3: bad"),
        (4, "", False, "`report:1` ended with exit code 4: bad"),
        (143, "", False, "`report:1` ended with exit code 143 (SIGTERM): bad"),
        (137, "OOMKilled", False, "`report:1` took more memory than 64Mi (OOMKilled): bad"),
        (
            137,
            "",
            False,
            "`report:1` ended with exit code 137 (SIGKILL), as happens to what takes more memory than its limit of 64Mi: bad",
        ),
    ],
)
async def test_exit_codes_are_judged_as_those_of_commands(
    step: Step, cluster: Cluster, code: int, reason: str, permanent: bool, message: str
) -> None:
    running = step.begin(permanent_exit_codes=[3], memory="64Mi")
    pod = cluster.run_pod(await cluster.new_job(), "good\nbad\n")
    cluster.end_pod(pod, code, reason)
    failed = await ended(running)
    assert (failed.message, failed.non_retryable) == (message, permanent)
    assert failed.details[0] | {"exit_code": code, "stdout": "good\nbad\n", "pod": pod} == failed.details[0]
    assert len(cluster.jobs) == 1, "a Job that failed stays to be looked at"


async def test_a_program_that_cannot_be_started_fails_for_good(step: Step, cluster: Cluster) -> None:
    running = step.begin("nope")
    pod = cluster.add_pod(await cluster.new_job())
    said = 'exec: "nope": executable file not found in $PATH'
    ends = [{"name": "main", "state": {"terminated": {"exitCode": 128, "reason": "StartError", "message": said}}}]
    cluster.end_pod(pod, 128, containerStatuses=ends)
    failed = await ended(running)
    assert (failed.message, failed.non_retryable) == (f"`report:1` could not be started: {said}", True)


async def test_a_container_beside_the_program_is_named_with_its_exit_code(step: Step, cluster: Cluster) -> None:
    running = step.begin(template=TEMPLATE)
    pod = cluster.add_pod(await cluster.new_job())
    cluster.logs[pod] = Log(bytearray(b"no network\n"))
    cluster.end_pod(pod, 7, container="prepare")
    assert (await ended(running)).message == "`prepare` ended with exit code 7: no network"


async def test_the_job_is_what_the_step_asks_for(step: Step, cluster: Cluster) -> None:
    asked = {
        "env": {"REGION": "eu"},
        "secrets": {"DB_PASSWORD": "warehouse/password"},
        "memory": "512Mi",
        "cpus": 1.5,
        "service_account": "report",
        "node_selector": {"pool": "batch"},
        "image_pull_secrets": ["registry"],
        "pull": "always",
    }
    running = step.begin("--day", "{scheduled_at:%F}", keep_failed=3600.0, timeout=20.0, command=["report"], **asked)
    await cluster.new_job()
    running.cancel()
    [sent] = cluster.sent
    assert {**sent["spec"], "template": None} == {
        "backoffLimit": 0,
        "activeDeadlineSeconds": 80,
        "ttlSecondsAfterFinished": 3600,
        "template": None,
    }
    pod = sent["spec"]["template"]["spec"]
    [container] = pod.pop("containers")
    assert pod == {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 5,
        "serviceAccountName": "report",
        "nodeSelector": {"pool": "batch"},
        "imagePullSecrets": [{"name": "registry"}],
    }
    env = {each["name"]: each.get("value", each.get("valueFrom")) for each in container.pop("env")}
    assert env["DB_PASSWORD"] == {"secretKeyRef": {"name": "warehouse", "key": "password"}}
    assert (env["REGION"], env["TICKWRIGHT_ATTEMPT"]) == ("eu", "1")
    assert env["TICKWRIGHT_IDEMPOTENCY_KEY"] == sent["metadata"]["annotations"][KEY]
    size = {"memory": "512Mi", "cpu": "1.5"}
    assert container == {
        "name": "main",
        "image": "report:1",
        "command": ["report"],
        "args": ["--day", "2027-03-01"],
        "resources": {"limits": size, "requests": size},
        "imagePullPolicy": "Always",
    }


async def test_a_template_is_sent_as_it_is_with_what_a_step_needs(step: Step, cluster: Cluster) -> None:
    running = step.begin(template=TEMPLATE)
    await cluster.new_job()
    running.cancel()
    [sent] = cluster.sent
    made = sent["spec"]["template"]
    main = made["spec"]["containers"][1]
    assert main["env"][-1] == {"name": "DAY", "value": "$(TICKWRIGHT_SCHEDULED_AT)"}, "after what it refers to"
    assert {"name": "TICKWRIGHT_JOB", "value": "mine"} in main["env"]
    assert [each["name"] for each in main["env"]].count("TICKWRIGHT_JOB") == 1
    assert "env" not in made["spec"]["containers"][0], "the annotation names the other"
    assert made["metadata"]["labels"] == {"team": "data", "app.kubernetes.io/managed-by": "tickwright"}
    assert made["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"] == "report"
    assert made["spec"]["terminationGracePeriodSeconds"] == 20
    kept = {key: value for key, value in made["spec"].items() if key not in {"containers", "restartPolicy"}}
    assert kept == {key: value for key, value in TEMPLATE["spec"].items() if key != "containers"}


async def test_a_worker_runs_jobs_only_in_the_namespaces_that_its_settings_name(step: Step, cluster: Cluster) -> None:
    failed = await failure(step, namespace="kube-system")
    assert failed.non_retryable
    assert failed.message.endswith("are not allowed on this worker; TICKWRIGHT_KUBERNETES_NAMESPACES allows: reports")
    assert cluster.sent == []


async def test_a_job_of_somebody_else_is_left_alone(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    name = (await cluster.new_job())["metadata"]["name"]
    cluster.end_pod(cluster.run_pod(cluster.jobs[0]))
    await running
    await until(lambda: not cluster.jobs)
    cluster.put_job(name, {KEY: "other"})
    failed = await failure(step)
    assert (failed.message, failed.non_retryable) == (
        f"there is a Job `{name}` that is none of this step; delete it",
        True,
    )
    assert len(cluster.jobs) == 1


async def test_a_long_log_is_kept_within_bounds(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    pod = cluster.run_pod(await cluster.new_job(), "".join(f"line {number}\n" for number in range(20_000)))
    cluster.end_pod(pod)
    stdout = (await running).output["stdout"]
    assert stdout.startswith("line 0\n")
    assert stdout.endswith("line 19999\n")
    assert "in all, the first 1 KiB and the last 8 KiB kept" in stdout


async def test_a_log_that_its_node_has_lost_does_not_cost_the_result(step: Step, cluster: Cluster) -> None:
    running = step.begin()
    pod = cluster.run_pod(await cluster.new_job())
    cluster.logs[pod].gone = True
    cluster.end_pod(pod)
    result = await running
    assert result.output["exit_code"] == 0
    assert "the end of its log cannot be read" in result.log
