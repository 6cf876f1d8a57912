"""A job with `sql` steps, from its spec to what people see of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from temporalio.client import Client

from activities.contract import OfferQuestion, Trial
from activities.occurrence import stamp
from schedules.server.workers import Workers
from tests.deploy import Deploy
from tests.integration.scenes import Scene
from tests.processes import run_command, worker

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.activities.handlers.sql.conftest import Steps
    from tests.postgres import PostgresServer
    from tests.servers import DevServer

PASSWORD = "hunter22-hunter22"
LOAD = """
-- A script of two statements.
INSERT INTO payments (amount) VALUES (:amount);
DO $$ BEGIN RAISE NOTICE 'it is paid'; END $$;
"""


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    (tmp_path / "specs" / "sql").mkdir(parents=True)
    (tmp_path / "specs" / "sql" / "load.sql").write_text(LOAD)
    return Deploy(tmp_path / "specs", server.environ, name)


def _with_password(url: str) -> str:
    return url.replace("app@", f"app:{PASSWORD}@")


async def test_what_a_script_did_is_seen_and_its_password_is_nowhere(
    on_postgresql: Steps, deploy: Deploy, server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    steps = [
        {"name": "load", "sql": {"connection": "${secret:PAY}", "file": "sql/load.sql", "parameters": {"amount": 7}}},
        {
            "name": "sum",
            "sql": {
                "connection": "${secret:PAY}",
                "statement": "SELECT sum(amount) + :loaded AS total FROM payments",
                "parameters": {"loaded": "{steps.load.output.row_counts.0}"},
            },
        },
        {"name": "wrong", "sql": {"connection": "${secret:PAY}", "statement": "SELECT 1 FROM nobody"}},
    ]
    deploy.job("pay", steps=steps, task_queue=name)
    job, settings = f"{name}-pay", {"TICKWRIGHT_SECRET_PAY": _with_password(on_postgresql.url)}
    async with worker(server.address, cwd=tmp_path, task_queue=name, **settings), Scene(client, name) as scene:
        assert (await deploy.run("--strict")).code == 0
        await client.get_schedule_handle(job).trigger()
        run = await scene.ended("pay")
    assert on_postgresql.rows() == [(7,)]
    shown = await run_command("schedules", "explain", job, stamp(run.scheduled_at), env=server.environ)
    logs = await run_command("schedules", "logs", job, env=server.environ)
    assert 'relation "nobody" does not exist (UndefinedTable, 42P01)' in shown.stdout
    assert "it is paid" in logs.stdout
    assert '"total": 8' in logs.stdout
    history = await client.get_workflow_handle(run.id).fetch_history()
    stored = b"".join(event.SerializeToString() for event in history.events)
    assert b"payments" in stored
    assert PASSWORD.encode() not in stored
    assert PASSWORD not in shown.stdout + logs.stdout


async def test_before_a_sync_the_worker_tries_the_database(
    postgres: PostgresServer, deploy: Deploy, server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    nowhere = _with_password(postgres.url("nowhere", "app"))
    deploy.job("pay", run={"sql": {"connection": "${secret:PAY}", "statement": "SELECT 1"}}, task_queue=name)
    async with worker(server.address, cwd=tmp_path, task_queue=name, TICKWRIGHT_SECRET_PAY=nowhere):
        strict = await deploy.run("--strict")
        trials = [Trial("sql", {"connection": "${secret:PAY}"}), Trial("sql", {"connection": "${secret:NONE}"})]
        [offer] = await Workers(client).answers(name, OfferQuestion(trials=trials))
    assert strict.code == 1
    assert f"`sql` steps of `{name}-pay` would fail in the worker of task queue `{name}`: " in strict.stderr
    assert 'database "nowhere" does not exist' in strict.stderr
    assert offer
    assert offer.troubles[1] == ""
    assert PASSWORD not in strict.stderr + offer.troubles[0]
