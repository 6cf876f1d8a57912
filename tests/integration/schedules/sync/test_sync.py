"""`python -m schedules.sync` as a user's pipeline runs it, against a real server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.client import Client, ScheduleUpdate, ScheduleUpdateInput

from schedules.server.gateway import TemporalGateway
from tests.deploy import Deploy
from tests.processes import run_command
from tests.servers import DevServer


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    return Deploy(tmp_path, server.environ, name)


def actions(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change["action"], change["result"]) for change in document["changes"]]


async def versions(client: Client, names: Any) -> dict[str, bytes]:
    """The conflict tokens: the server makes a new one with every write."""
    gateway = TemporalGateway(client)
    found = await asyncio.gather(*(gateway.describe(name) for name in names))
    return {schedule.id: schedule.version for schedule in found if schedule}


async def test_sixty_jobs_then_five_changed_and_five_gone(deploy: Deploy, client: Client) -> None:
    for number in range(60):
        deploy.job(f"job-{number:02}")
    created = await deploy.sync()
    assert actions(created) == [("create", "applied")] * 60
    names = sorted(deploy.jobs)
    before = await versions(client, names)
    assert len(before) == 60

    for name in names[:5]:
        deploy.jobs[name]["schedule"] = "30 9 * * *"
    for name in names[5:10]:
        del deploy.jobs[name]
    changed = await deploy.sync()
    assert [(change["job"], change["action"]) for change in changed["changes"]] == [
        *((name, "update") for name in names[:5]),
        *((name, "delete") for name in names[5:10]),
    ]
    assert {change["result"] for change in changed["changes"]} == {"applied"}
    assert changed["unchanged"] == 50

    between = await versions(client, names)
    assert {name for name in between if between[name] == before[name]} == set(names[10:])
    again = await deploy.sync()
    assert (again["changes"], again["unchanged"]) == ([], 55)
    assert await versions(client, names) == between


async def test_an_operators_pause_and_note_survive_a_change_of_the_spec(deploy: Deploy, client: Client) -> None:
    deploy.job("close", schedule="0 2 * * *")
    await deploy.sync()
    (schedule_id,) = deploy.jobs
    handle = client.get_schedule_handle(schedule_id)
    await handle.pause(note="books are open, ask Ann")

    assert (await deploy.sync())["changes"] == []
    deploy.jobs[schedule_id]["schedule"] = "0 3 * * *"
    assert actions(await deploy.sync()) == [("update", "applied")]
    state = (await handle.describe()).schedule.state
    assert (state.paused, state.note) == (True, "books are open, ask Ann")


async def test_a_pause_that_the_spec_declares_is_kept_so(deploy: Deploy, client: Client) -> None:
    deploy.job("close", paused=True)
    await deploy.sync()
    (schedule_id,) = deploy.jobs
    handle = client.get_schedule_handle(schedule_id)
    assert (await handle.describe()).schedule.state.paused
    await handle.unpause(note="now")
    assert actions(await deploy.sync()) == [("update", "applied")]
    assert (await handle.describe()).schedule.state.paused


async def test_a_hand_edit_is_drift_and_put_right(deploy: Deploy, client: Client) -> None:
    deploy.job("close")
    await deploy.sync()
    (schedule_id,) = deploy.jobs
    handle = client.get_schedule_handle(schedule_id)

    async def every_hour(given: ScheduleUpdateInput) -> ScheduleUpdate:
        schedule = given.description.schedule
        schedule.spec.calendars = []
        schedule.spec.cron_expressions = ["0 * * * *"]
        return ScheduleUpdate(schedule)

    await handle.update(every_hour)
    check = await deploy.run("--check", "--output", "json")
    assert check.code == 3
    (change,) = json.loads(check.stdout)["changes"]
    assert (change["action"], change["result"]) == ("update", "planned")
    (diff,) = change["diff"]
    assert diff["field"] == "times.calendars[0]"
    assert (diff["before"], diff["after"]) == ("0 0 * * * * *", "0 0 8 * * 1-5 * # 0 8 * * 1-5")
    assert actions(await deploy.sync()) == [("update", "applied")]
    assert (await deploy.run("--check")).code == 0


async def test_check_and_dry_run_write_nothing_not_even_the_search_attribute(tmp_path: Path, start_server: Any) -> None:
    server = await asyncio.to_thread(start_server, owner_attribute=False)
    deploy = Deploy(tmp_path, server.environ, "billing")
    deploy.job("close")
    assert (await deploy.run("--check")).code == 3
    dry = await deploy.run("--dry-run")
    assert (dry.code, dry.stdout) == (0, "")
    assert "+ create billing-close" in dry.stderr
    client = await Client.connect(server.address)
    assert await TemporalGateway(client).missing_attributes() == (
        "TickwrightOwner",
        "TickwrightHash",
        "TickwrightOutcome",
    )
    assert await TemporalGateway(client).describe("billing-close") is None

    assert actions(await deploy.sync()) == [("create", "applied")]
    assert (await deploy.run("--check")).code == 0


async def test_a_schedule_of_another_project_is_left_alone_until_adopted(
    deploy: Deploy, tmp_path: Path, client: Client
) -> None:
    deploy.job("close")
    await deploy.sync()
    (schedule_id,) = deploy.jobs
    other = Deploy(tmp_path, deploy.environ, f"{deploy.project}-other")
    other.jobs = {
        schedule_id: {**deploy.jobs[schedule_id], "overlap": "allow_all"},
        f"{schedule_id}-2": deploy.jobs[schedule_id],
    }
    refused = await other.run("--output", "json")
    assert refused.code == 1
    results = {change["job"]: (change["action"], change["result"]) for change in json.loads(refused.stdout)["changes"]}
    assert results == {schedule_id: ("update", "failed"), f"{schedule_id}-2": ("create", "applied")}
    assert f"belongs to {deploy.project}/default" in refused.stdout

    assert actions(await other.sync("--adopt")) == [("update", "applied")]
    observed = await TemporalGateway(client).describe(schedule_id)
    assert observed is not None
    assert observed.owner == f"{deploy.project}-other/default"


async def test_a_slip_that_would_delete_most_jobs_is_refused_whole(deploy: Deploy, client: Client) -> None:
    for number in range(12):
        deploy.job(f"job-{number:02}")
    await deploy.sync()
    names = sorted(deploy.jobs)
    deploy.jobs = {f"{deploy.project}-new": deploy.jobs[names[0]]}
    refused = await deploy.run()
    assert refused.code == 1
    assert "12 of the 12 schedules" in refused.stderr
    assert "--max-delete 12" in refused.stderr
    assert f"- delete {names[0]}\n" in refused.stderr, "what is refused is shown"
    told = await deploy.run("--output", "json")
    assert told.code == 1
    document = json.loads(told.stdout)
    assert actions(document).count(("delete", "planned")) == 12
    assert document["error"].startswith("refused: 12 of the 12 schedules")
    looked = await deploy.run("--check")
    assert looked.code == 3
    assert "warning: a sync would be refused: 12 of the 12 schedules" in looked.stderr
    assert len(await versions(client, [*names, *deploy.jobs])) == 12

    kept = await deploy.sync("--no-prune")
    assert actions(kept) == [("create", "applied")]
    gone = await deploy.sync("--max-delete", "12")
    assert actions(gone) == [("delete", "applied")] * 12


async def test_a_one_off_that_is_over_is_not_made_again(deploy: Deploy) -> None:
    deploy.job("migration", schedule={"at": "2020-03-01T09:00"})
    document = await deploy.sync()
    assert (document["changes"], document["unchanged"]) == ([], 0)
    assert any(f"{deploy.project}-migration gets no schedule" in warning for warning in document["warnings"])


async def test_what_a_users_module_prints_is_not_in_the_document(deploy: Deploy, tmp_path: Path) -> None:
    deploy.job("close")
    deploy.write()
    (tmp_path / "noisy.py").write_text("import os\nprint('hello')\nos.system('echo hello')\n")
    arguments = [str(tmp_path / "jobs.json"), "--modules", "noisy", "--output", "json"]
    finished = await run_command("schedules.sync", *arguments, env=deploy.environ, cwd=tmp_path)
    assert json.loads(finished.stdout)["changes"][0]["result"] == "applied"
    assert "hello" in finished.stderr


@pytest.mark.parametrize("options", [["--nonsense"], ["--max-delete", "many"]])
async def test_a_wrong_command_line_is_told_in_json_too(tmp_path: Path, options: list[str]) -> None:
    finished = await run_command("schedules.sync", tmp_path, "--output=json", *options)
    assert finished.code == 2
    assert json.loads(finished.stdout)["error"]


async def test_a_job_may_be_called_json(tmp_path: Path) -> None:
    job = {"schedule": "@daily", "timezone": "UTC", "timeout": "5m", "run": {"command": ["true"]}}
    (tmp_path / "jobs.json").write_text(json.dumps({"version": 1, "project": "billing", "jobs": {"json": job}}))
    assert "UTC" in (await run_command("schedules", "next", "json", tmp_path)).stdout


async def test_a_server_that_is_away_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    deploy = Deploy(tmp_path, {"TEMPORAL_ADDRESS": "127.0.0.1:1"}, "billing")
    deploy.job("close")
    finished = await deploy.run()
    assert finished.code == 1
    assert "127.0.0.1:1" in finished.stderr
    assert "TEMPORAL_ADDRESS" in finished.stderr
    assert "Traceback" not in finished.stderr


async def test_a_namespace_that_does_not_exist_is_named(deploy: Deploy) -> None:
    deploy.job("close")
    deploy.write()
    env = {**deploy.environ, "TEMPORAL_NAMESPACE": "nowhere"}
    finished = await run_command("schedules.sync", deploy.folder, env=env)
    assert finished.code == 1
    assert "temporal operator namespace create --namespace nowhere" in finished.stderr
    assert "Traceback" not in finished.stderr


async def test_a_wrong_spec_reaches_no_server(tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text("version: 1\nproject: billing\njobs: {close: {schedule: '61 * * * *'}}\n")
    finished = await run_command(
        "schedules.sync", tmp_path, "--output", "json", env={"TEMPORAL_ADDRESS": "127.0.0.1:1"}
    )
    assert finished.code == 2
    assert "jobs.close.schedule" in finished.stderr
    assert "jobs.close.schedule" in json.loads(finished.stdout)["error"]


@pytest.mark.parametrize("options", [["--max-delete", "many"], ["--check", "--dry-run"], ["--nonsense"], []])
async def test_a_wrong_command_line_ends_with_2(tmp_path: Path, options: list[str]) -> None:
    arguments = [str(tmp_path), *options] if options else []
    finished = await run_command("schedules.sync", *arguments)
    assert finished.code == 2
    assert "usage:" in finished.stderr
    assert "Traceback" not in finished.stderr


async def test_a_warning_of_the_sdks_core_is_not_in_the_document(deploy: Deploy) -> None:
    """It warns of payloads over 512 KiB."""
    http = {"url": "https://billing.internal/x", "json": ["x" * 120_000] * 5}
    deploy.job("large", run={"http": http})
    assert actions(await deploy.sync()) == [("create", "applied")]


@pytest.mark.parametrize(
    ("types", "named"),
    [
        ({"TickwrightOwner": "KEYWORD", "TickwrightHash": "INT"}, "TickwrightHash as Int"),
        (
            {"TickwrightOwner": "TEXT", "TickwrightHash": "KEYWORD", "TickwrightOutcome": "KEYWORD"},
            "TickwrightOwner as Text",
        ),
    ],
    ids=["a number, and one missing", "text, which takes our queries"],
)
async def test_a_search_attribute_of_another_type_is_named_at_once(
    tmp_path: Path, start_server: Any, types: dict[str, str], named: str
) -> None:
    """Registering it is no way out, and no reason to wait for one: the server has it."""
    server = await asyncio.to_thread(start_server, owner_attribute=False)
    attributes = {name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{kind}") for name, kind in types.items()}
    client = await Client.connect(server.address)
    request = AddSearchAttributesRequest(namespace="default", search_attributes=attributes)
    await client.operator_service.add_search_attributes(request)
    deploy = Deploy(tmp_path, server.environ, "typed")
    deploy.job("close")
    finished = await deploy.run()
    assert finished.code == 1
    assert f"has the search attributes {named}, and not as Keyword; remove each" in finished.stderr
    assert "run once" not in finished.stderr
