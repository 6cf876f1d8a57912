"""A plan file that is damaged, edited, or meant for another place is refused, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client

from schedules.server.gateway import TemporalGateway
from tests.deploy import Deploy
from tests.processes import Finished
from tests.servers import DevServer


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    (tmp_path / "specs").mkdir()
    made = Deploy(tmp_path / "specs", server.environ, name)
    made.job("close")
    made.job("open")
    return made


@pytest.fixture
async def file(deploy: Deploy, tmp_path: Path) -> Path:
    """A plan that creates both jobs."""
    kept = tmp_path / "plan.json"
    assert (await deploy.run("--plan-out", str(kept))).code == 0
    return kept


def changes(document: Any) -> Any:
    return document["plan"]["changes"]


def version(document: Any) -> None:
    document["tickwright_plan"] = 99


def owner(document: Any) -> None:
    document["plan"]["owner"] = "somebody/else"


def queue(document: Any) -> None:
    changes(document)[0]["desired"]["action"]["task_queue"] = "elsewhere"


def command(document: Any) -> None:
    changes(document)[0]["desired"]["action"]["args"][0]["steps"][0]["params"]["argv"] = ["rm", "-rf", "/"]


def removed(document: Any) -> None:
    changes(document).pop()


def added(document: Any) -> None:
    changes(document).append({**deepcopy(changes(document)[0]), "job": "one-more"})


def verb(document: Any) -> None:
    changes(document)[0]["verb"] = "explode"


def rules(document: Any) -> None:
    document["plan"]["rules"]["adopt"] = True


def namespace(document: Any) -> None:
    document["namespace"] = {"name": "default", "id": ""}


async def refused(deploy: Deploy, file: Path, client: Client, said: str) -> Finished:
    finished = await deploy.run("--apply-plan", str(file), "--no-preflight")
    assert finished.code == 2, finished.stderr
    assert f"--apply-plan {file}: " in finished.stderr
    assert said in finished.stderr
    assert "Traceback" not in finished.stderr
    for job in deploy.jobs:
        assert await TemporalGateway(client).describe(job) is None
    return finished


@pytest.mark.parametrize("edit", [version, owner, queue, command, removed, added, verb, rules, namespace])
async def test_a_plan_that_was_edited_is_refused(
    deploy: Deploy, file: Path, client: Client, edit: Callable[[Any], None]
) -> None:
    document = json.loads(file.read_text())  # noqa: ASYNC240 - a few bytes
    edit(document)
    file.write_text(json.dumps(document))  # noqa: ASYNC240
    await refused(deploy, file, client, "form 99" if edit is version else "its digest does not match its content")


async def test_a_plan_that_was_cut_off_is_refused(deploy: Deploy, file: Path, client: Client) -> None:
    file.write_text(file.read_text()[:-100])  # noqa: ASYNC240
    await refused(deploy, file, client, "not JSON, or not complete")


async def test_a_plan_for_another_server_is_refused(
    deploy: Deploy, file: Path, client: Client, own_server: DevServer
) -> None:
    """Both have the namespace `default`, and neither has the schedules."""
    elsewhere = await Client.connect(own_server.address)
    deploy.environ = own_server.environ
    await refused(deploy, file, client, "of another server")
    assert await TemporalGateway(elsewhere).listed("") == []


async def test_a_plan_for_another_namespace_is_refused(
    deploy: Deploy, file: Path, client: Client, server: DevServer, name: str
) -> None:
    retention = Duration()
    retention.FromTimedelta(timedelta(days=1))
    request = RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=retention)
    await client.workflow_service.register_namespace(request)
    deploy.environ = {**server.environ, "TEMPORAL_NAMESPACE": name}
    await refused(deploy, file, client, f"the plan is for namespace default, and this is {name}")


async def test_a_plan_of_other_specs_is_refused(deploy: Deploy, file: Path, client: Client, name: str) -> None:
    deploy.project = f"{name}-other"
    finished = await deploy.run("--apply-plan", str(file), "--no-preflight")
    assert finished.code == 1
    assert f"the plan is for {name}/default, and the specs are of {name}-other/default" in finished.stderr
    for job in deploy.jobs:
        assert await TemporalGateway(client).describe(job) is None
