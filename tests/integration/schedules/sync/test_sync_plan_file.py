"""A plan that was reviewed is what is applied, or nothing is; a plan as a comment; a deep look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporalio.client import Client, ScheduleActionStartWorkflow, ScheduleUpdate, ScheduleUpdateInput

from schedules.server.gateway import TemporalGateway
from tests.deploy import Deploy
from tests.servers import DevServer, free_port


@pytest.fixture
def deploy(tmp_path: Path, server: DevServer, name: str) -> Deploy:
    (tmp_path / "specs").mkdir()
    return Deploy(tmp_path / "specs", server.environ, name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "plan.json"


async def test_what_was_reviewed_is_applied(deploy: Deploy, file: Path, client: Client) -> None:
    deploy.job("close")
    kept = await deploy.run("--plan-out", str(file))
    assert kept.code == 0
    assert f"+ create {deploy.project}-close" in kept.stderr
    (schedule_id,) = deploy.jobs
    assert await TemporalGateway(client).describe(schedule_id) is None

    done = await deploy.sync("--apply-plan", str(file))
    assert [(change["action"], change["result"]) for change in done["changes"]] == [("create", "applied")]
    again = await deploy.run("--apply-plan", str(file))
    assert again.code == 1
    assert f"{schedule_id}: create is no longer needed" in again.stderr


async def test_nothing_is_applied_where_the_specs_or_the_server_changed_since(
    deploy: Deploy, file: Path, client: Client
) -> None:
    deploy.job("close")
    deploy.job("open")
    await deploy.sync()
    close, opening = deploy.jobs
    deploy.jobs[close]["overlap"] = "allow_all"
    deploy.jobs[opening]["overlap"] = "allow_all"
    await deploy.run("--plan-out", str(file))
    gateway = TemporalGateway(client)
    await client.get_schedule_handle(close).pause(note="ask Ann")
    while (observed := await gateway.describe(close)) is None or not observed.state.paused:
        pass
    deploy.jobs[opening]["timeout"] = "6m"

    refused = await deploy.run("--apply-plan", str(file))
    assert refused.code == 1
    assert f"  {close}: somebody has changed the schedule on the server (state)\n" in refused.stderr
    assert f"  {opening}: the specs have changed\n" in refused.stderr
    for name in (close, opening):
        observed = await gateway.describe(name)
        assert observed is not None
        assert observed.policies.overlap == "skip"


async def test_what_the_review_allowed_is_part_of_the_plan(deploy: Deploy, file: Path, client: Client) -> None:
    """Taking over, and what is kept: not decided a second time."""
    deploy.job("close")
    deploy.job("old")
    await deploy.sync()
    other = Deploy(deploy.folder, deploy.environ, f"{deploy.project}-other")
    (schedule_id, _) = deploy.jobs
    other.jobs = {schedule_id: deploy.jobs[schedule_id]}
    await other.run("--adopt", "--plan-out", str(file))
    done = await other.sync("--apply-plan", str(file))
    assert [(change["job"], change["action"], change["result"]) for change in done["changes"]] == [
        (schedule_id, "update", "applied")
    ]
    observed = await TemporalGateway(client).describe(schedule_id)
    assert observed is not None
    assert observed.owner == f"{other.project}/default"


@pytest.mark.parametrize("text", ["{}", "not json", "\udcff"])
async def test_a_file_that_is_no_plan_changes_nothing(deploy: Deploy, file: Path, text: str) -> None:
    file.write_bytes(text.encode(errors="surrogateescape"))  # noqa: ASYNC240 - a few bytes
    deploy.job("close")
    refused = await deploy.run("--apply-plan", str(file))
    assert refused.code == 2
    assert "Traceback" not in refused.stderr


async def test_a_plan_file_that_cannot_be_written_or_read_is_named(deploy: Deploy, tmp_path: Path) -> None:
    deploy.job("close")
    for option in ("--plan-out", "--apply-plan"):
        refused = await deploy.run(option, str(tmp_path / "none" / "plan.json"))
        assert refused.code == 2
        assert option in refused.stderr


async def test_a_plan_never_takes_the_place_of_specs(deploy: Deploy) -> None:
    """Nor would it be read as one by the next sync."""
    deploy.job("close")
    for file in (deploy.folder / "plan.json", deploy.folder / "jobs.json", deploy.folder / "a" / "plan.yaml"):
        refused = await deploy.run("--plan-out", str(file))
        assert refused.code == 2
        assert f"--plan-out {file}: the next sync would read it as a spec file" in refused.stderr
    assert json.loads((deploy.folder / "jobs.json").read_text())["jobs"]
    for file in (deploy.folder / ".plan.json", deploy.folder / "plan.txt", deploy.folder.parent / "plan.json"):
        assert (await deploy.run("--plan-out", str(file))).code == 0


async def test_markdown_is_all_that_is_on_stdout(deploy: Deploy) -> None:
    deploy.job("close")
    shown = await deploy.run("--check", "--output", "markdown")
    assert shown.code == 3
    assert shown.stdout.startswith(f"### Schedules of `{deploy.project}/default`\n\n")
    assert f"#### + create `{deploy.project}-close`\n" in shown.stdout
    assert "no worker polls task queue" in shown.stderr
    applied = await deploy.run("--output", "markdown")
    assert f"#### + create `{deploy.project}-close`: applied\n" in applied.stdout


async def test_a_comment_says_that_the_server_could_not_be_reached(deploy: Deploy) -> None:
    deploy.job("close")
    deploy.environ = {"TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}"}
    shown = await deploy.run("--check", "--output", "markdown")
    assert shown.code == 1
    assert shown.stdout.startswith("### Schedules\n\n❌ cannot reach Temporal at 127.0.0.1:")


async def test_a_comment_says_what_is_wrong_with_the_specs(deploy: Deploy) -> None:
    deploy.job("close", timeout="5 minutes")
    shown = await deploy.run("--check", "--output", "markdown")
    assert shown.code == 2
    assert "❌ " in shown.stdout
    assert "5 minutes" in shown.stdout


async def test_each_write_has_its_line_and_the_schedule_its_note(deploy: Deploy, client: Client) -> None:
    deploy.job("close")
    finished = await deploy.run("--output", "json")
    (schedule_id,) = deploy.jobs
    json.loads(finished.stdout)
    assert f": create {schedule_id} applied\n" in finished.stderr
    observed = await TemporalGateway(client).describe(schedule_id)
    assert observed is not None
    assert observed.state.note.startswith("Tickwright: created by ")


async def test_an_edit_that_list_does_not_show_is_found_by_a_deep_look(deploy: Deploy, client: Client) -> None:
    deploy.job("close")
    await deploy.sync()
    (schedule_id,) = deploy.jobs
    gateway = TemporalGateway(client)
    while not await gateway.owned(f"{deploy.project}/default"):
        pass

    async def other_queue(given: ScheduleUpdateInput) -> ScheduleUpdate:
        action = given.description.schedule.action
        assert isinstance(action, ScheduleActionStartWorkflow)
        action.task_queue = "elsewhere"
        return ScheduleUpdate(given.description.schedule)

    await client.get_schedule_handle(schedule_id).update(other_queue)
    while (observed := await gateway.describe(schedule_id)) is None or observed.action.task_queue != "elsewhere":
        pass
    assert (await deploy.run("--check")).code == 0
    deep = await deploy.run("--check", "--deep", "--output", "json")
    assert deep.code == 3
    (change,) = json.loads(deep.stdout)["changes"]
    assert [diff["field"] for diff in change["diff"]] == ["action.task_queue"]
    await deploy.sync("--deep")
    assert (await deploy.run("--check", "--deep")).code == 0


async def test_a_rate_is_kept_to(deploy: Deploy) -> None:
    """Two look-ups of search attributes, a list, and a create for each job, at ten a second."""
    for number in range(12):
        deploy.job(f"job-{number:02}")
    finished = await deploy.run("--rate", "10", "--no-preflight", "--output", "json")
    assert finished.code == 0
    times = [line.split()[0] for line in finished.stderr.splitlines() if " applied" in line]
    assert len(times) == 12
    assert int(times[-1][17:19]) != int(times[0][17:19])


@pytest.mark.parametrize("option", ["--no-prune", "--adopt"])
async def test_a_kept_plan_takes_no_other_rules(deploy: Deploy, tmp_path: Path, option: str) -> None:
    deploy.job("close")
    plan = tmp_path / "plan.json"
    assert (await deploy.run("--plan-out", str(plan))).code == 0
    refused = await deploy.run("--apply-plan", str(plan), option)
    assert refused.code == 2
    assert "write --no-prune and --adopt with --plan-out" in refused.stderr
