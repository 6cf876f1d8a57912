"""Jobs with `container` steps, from their specs to what people see of their runs, on a real server and a real Podman."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from temporalio.client import Client

from activities.handlers.lasting import KEY
from activities.occurrence import stamp
from tests.deploy import Deploy
from tests.integration.scenes import Scene
from tests.podman import IMAGE
from tests.processes import run_command, worker
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.podman import Podman
    from tests.servers import DevServer

SECRET = "hunter22-hunter22"
LINES = 40
COUNT = f"""echo began >> /data/marks; i=0
while [ $i -lt {LINES} ]; do echo line $i; i=$((i+1)); sleep 0.3; done; echo '{{{{"rows": 7}}}}'"""


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    (tmp_path / "specs").mkdir()
    (tmp_path / "data").mkdir()
    return Deploy(tmp_path / "specs", server.environ, name)


@pytest.fixture
def settings(podman: Podman, tmp_path: Path, name: str) -> dict[str, Any]:
    return {
        "cwd": tmp_path,
        "task_queue": name,
        "allow_containers": "true",
        "container_socket": podman.socket,
        "container_mounts": str(tmp_path / "data"),
    }


def container(*args: str, **fields: Any) -> dict[str, Any]:
    return {"image": IMAGE, "args": list(args), "network": "none", **fields}


def _of(podman: Podman, name: str) -> list[dict[str, Any]]:
    return [each for each in podman.containers() if name in each["Config"]["Labels"].get(KEY, "")]


def _at(podman: Podman, name: str, line: int) -> bool:
    return any(f"line {line}\n" in podman.run("logs", each["Id"]) for each in _of(podman, name))


async def test_one_container_goes_on_under_a_killed_a_drained_and_a_third_worker(
    podman: Podman,
    deploy: Deploy,
    settings: dict[str, Any],
    server: DevServer,
    client: Client,
    name: str,
    tmp_path: Path,
) -> None:
    count = container("sh", "-c", COUNT, mounts=[f"{tmp_path}/data:/data"])
    again = {"max_attempts": 2, "initial": "1s"}
    deploy.job("count", run={"container": count}, task_queue=name, heartbeat_timeout="5s", retry=again)
    job = f"{name}-count"
    async with Scene(client, name) as scene:
        async with worker(server.address, **settings) as killed:
            assert (await deploy.run("--strict")).code == 0
            await client.get_schedule_handle(job).trigger()
            await until(lambda: _at(podman, name, 2))
            killed.signal(signal.SIGKILL)
        async with worker(server.address, **settings, drain_timeout="1s") as drained:
            await drained.until(lambda: any("goes on with" in line for line in drained.err), "no adoption")
            await until(lambda: _at(podman, name, 22))
            drained.signal(signal.SIGTERM)
            assert await drained.wait() == 0
        assert [each["State"]["Status"] for each in _of(podman, name)] == ["running"]
        async with worker(server.address, **settings):
            run = await scene.ended("count")
            logs = await run_command("schedules", "logs", job, env=server.environ)
    assert run.status == "completed"
    assert (tmp_path / "data" / "marks").read_text() == "began\n"
    shown = [line.split("line ")[1] for line in logs.stdout.splitlines() if "line " in line]
    assert shown == [str(number) for number in range(LINES)], logs.stdout
    assert '"rows": 7' in logs.stdout


async def test_what_people_see_of_containers_and_never_of_their_secrets(
    podman: Podman, deploy: Deploy, settings: dict[str, Any], server: DevServer, client: Client, name: str
) -> None:
    script = "echo told; cat /run/token >&2; case $TICKWRIGHT_ATTEMPT in 1) exit 5;; esac; echo '{{\"rows\": 3}}'"
    files = {"/run/token": "${secret:TOKEN}"}
    steps = [
        {"name": "flaky", "container": container("sh", "-c", script, files=files)},
        {"name": "use", "container": container("echo", "{steps.flaky.output.rows} rows")},
        {"name": "wrong", "container": container("nope"), "retry": {"max_attempts": 1}},
    ]
    deploy.job("seen", steps=steps, task_queue=name, retry={"max_attempts": 2, "initial": "1s"})
    job = f"{name}-seen"
    async with worker(server.address, **settings, TICKWRIGHT_SECRET_TOKEN=SECRET), Scene(client, name) as scene:
        assert (await deploy.run("--strict")).code == 0
        await client.get_schedule_handle(job).trigger()
        run = await scene.ended("seen")
        containers = _of(podman, name)
    shown = await run_command("schedules", "explain", job, stamp(run.scheduled_at), env=server.environ)
    logs = await run_command("schedules", "logs", job, env=server.environ)
    flaky = sorted(each["Name"] for each in containers if each["Config"]["Labels"]["tickwright.step"] == "flaky")
    assert flaky[1] == f"{flaky[0]}-2", "a retry has a container of its own"
    assert f"`{IMAGE}` could not be started" in shown.stdout
    assert "executable file not found" in shown.stdout.replace("`nope`", "")
    assert "3 rows" in logs.stdout
    history = await client.get_workflow_handle(run.id).fetch_history()
    stored = b"".join(event.SerializeToString() for event in history.events)
    for text in (shown.stdout, logs.stdout, repr(stored), repr(containers)):
        assert SECRET not in text


async def test_before_a_sync_the_worker_tries_its_engine_image_and_mounts(
    podman: Podman, deploy: Deploy, settings: dict[str, Any], server: DevServer, name: str
) -> None:
    async def told(**fields: Any) -> str:
        deploy.job("try", run={"container": container("true", **fields)}, task_queue=name)
        strict = await deploy.run("--strict")
        return "" if strict.code == 0 else strict.stderr

    async with worker(server.address, **settings):
        assert await told(pull="never") == ""
        assert "the image `localhost/none:1` is not there, and `pull` is never" in await told(
            image="localhost/none:1", pull="never"
        )
        assert "the mount `/etc:/x` is not allowed on this worker" in await told(mounts=["/etc:/x"])
    async with worker(server.address, **settings | {"container_socket": f"{podman.folder}/none.sock"}):
        assert "no container engine answers at " in await told()


async def test_cancelling_a_run_removes_its_container(
    podman: Podman, deploy: Deploy, settings: dict[str, Any], server: DevServer, client: Client, name: str
) -> None:
    script = "trap 'echo told; exit 0' TERM; echo line 0; while true; do sleep 0.1; done"
    deploy.job("long", run={"container": container("sh", "-c", script)}, task_queue=name, heartbeat_timeout="5s")
    async with worker(server.address, **settings), Scene(client, name) as scene:
        await deploy.sync()
        await client.get_schedule_handle(f"{name}-long").trigger()
        await until(lambda: _at(podman, name, 0))
        run = await scene.run("long")
        await client.get_workflow_handle(run.id).cancel()
        assert (await scene.ended("long")).status == "cancelled"
        assert _of(podman, name) == []
