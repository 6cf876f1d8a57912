"""A job with a `kubernetes` step, from its spec to what people see of its run, on a real server and with a real worker process."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from temporalio.client import Client

from activities.occurrence import stamp
from tests.deploy import Deploy
from tests.integration.scenes import Scene
from tests.kubernetes import NAMESPACE
from tests.processes import run_command, worker

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kubernetes import Cluster
    from tests.servers import DevServer


async def test_a_job_goes_on_under_a_killed_and_a_drained_worker_and_its_troubles_are_told(
    cluster: Cluster, server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    (tmp_path / "specs").mkdir()
    deploy = Deploy(tmp_path / "specs", server.environ, name)
    settings = {"task_queue": name, "kubernetes_namespaces": NAMESPACE, "KUBECONFIG": str(tmp_path / "kubeconfig")}
    run = {"kubernetes": {"namespace": NAMESPACE, "image": "report:1", "permanent_exit_codes": [3]}}
    again = {"max_attempts": 3, "initial": "1s"}
    deploy.job("report", run=run, task_queue=name, heartbeat_timeout="5s", retry=again)
    async with Scene(client, name) as scene:
        async with worker(server.address, cwd=tmp_path, **settings) as killed:
            strict = await deploy.run("--strict")
            assert strict.code == 0, strict.stderr
            tried = len(cluster.sent)
            assert tried, "preflight has sent a dry run"
            await client.get_schedule_handle(f"{name}-report").trigger()
            cluster.disrupt(cluster.run_pod(await cluster.new_job()))
            pod = cluster.run_pod(await cluster.new_job(2), "line 1\n")
            killed.signal(signal.SIGKILL)
        async with worker(server.address, cwd=tmp_path, **settings, drain_timeout="1s") as drained:
            adopted = f"{cluster.jobs[-1]['metadata']['name']}"
            await drained.until(
                lambda: any("goes on with" in each and adopted in each for each in drained.err), "none adopted"
            )
            cluster.say(pod, "line 2\n")
            drained.signal(signal.SIGTERM)
            assert await drained.wait() == 0
        async with worker(server.address, cwd=tmp_path, **settings):
            cluster.say(pod, "line 3\n")
            cluster.end_pod(pod, 3)
            ended = await scene.ended("report")
    assert len(cluster.sent) == tried + 2, "one for each pod that was lost, and none for a worker"
    shown = await run_command("schedules", "explain", f"{name}-report", stamp(ended.scheduled_at), env=server.environ)
    logs = await run_command("schedules", "logs", f"{name}-report", env=server.environ)
    assert "ended with exit code 3: line 3" in shown.stdout, shown.stdout
    lines = [line.split("line ")[1] for line in logs.stdout.splitlines() if "line " in line and "exit code" not in line]
    assert lines == ["1", "2", "3"], logs.stdout
