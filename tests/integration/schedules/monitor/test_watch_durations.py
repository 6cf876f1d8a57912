"""How long a run took, as a monitor tells it of one that has waited for a worker."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from temporalio.client import Client

from schedules.ledger.records import Records
from schedules.ledger.selection import Selection
from schedules.monitor.watch import Watch
from tests.integration.operating import done, hourly
from tests.integration.scenes import SECOND, Scene, now, until
from tests.processes import worker
from tests.servers import DevServer

NONE = timedelta(0)


async def test_the_wait_for_a_worker_is_none_of_a_runs_duration_and_its_end_is_read_once(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with Scene(client, name) as scene:
        job = await hourly(scene, "job")
        await done(server, "trigger", job)
        await until(now() + 8 * SECOND)
        async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
            run = await scene.ended("job")
        records = Records(client)
        watch = Watch(records, Selection(f"{name}/test"))
        await watch.look(now())
        read = records.calls["history"]
        await watch.look(now())

    assert run.closed_at
    assert run.closed_at - run.started_at > 8 * SECOND
    [figures] = watch.figures
    assert figures.last
    assert NONE < figures.last <= run.closed_at - run.started_at - 8 * SECOND
    assert records.calls["history"] == read
