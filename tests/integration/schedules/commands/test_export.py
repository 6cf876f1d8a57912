"""Schedules that others made, written as a spec file and taken over."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleCalendarSpec,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.common import RetryPolicy, SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from schedules.model import Interval
from schedules.server.gateway import TemporalGateway
from tests.processes import Finished, run_command
from tests.servers import TEMPORAL, DevServer

OWNER = SearchAttributeKey.for_keyword("TickwrightOwner")
HOSTILE = [
    "a: b # c",
    "yes",
    "1e3",
    "0o17",
    "2027-03-01",
    "{x}",
    "- \n\t'\"",
    "\u2028\u0085é😀",
    "*a &b !c",
    "",
    " ",
    "~",
]


def workflow(name: str, *args: Any, **more: Any) -> ScheduleActionStartWorkflow:
    return ScheduleActionStartWorkflow("Close", args=args, id=name, task_queue="theirs", **more)


def weekdays_at_eight() -> ScheduleSpec:
    return ScheduleSpec(cron_expressions=["0 8 * * 1-5 # close"], time_zone_name="Europe/Berlin")


FOREIGN: dict[str, Schedule] = {
    "cron": Schedule(workflow("cron", 1, "x", {"a": [None]}), weekdays_at_eight()),
    "hostile": Schedule(workflow("hostile", *HOSTILE, dict.fromkeys(HOSTILE, HOSTILE)), weekdays_at_eight()),
    "literal-templates": Schedule(workflow("t", "{scheduled_at}", "}{"), weekdays_at_eight()),
    "no-zone": Schedule(workflow("no-zone"), ScheduleSpec(cron_expressions=["@hourly"])),
    "intervals": Schedule(
        workflow("intervals"),
        ScheduleSpec(intervals=[ScheduleIntervalSpec(timedelta(minutes=90), timedelta(minutes=7))]),
    ),
    "every-field": Schedule(
        workflow(
            "another-id",
            execution_timeout=timedelta(hours=5),
            run_timeout=timedelta(hours=4),
            task_timeout=timedelta(seconds=30),
            retry_policy=RetryPolicy(timedelta(milliseconds=1500), 1.5, timedelta(seconds=90), 4, ["Broken"]),
            memo={"team": ["a", 1]},
            typed_search_attributes=TypedSearchAttributes([SearchAttributePair(OWNER, "x/y")]),
            static_summary="summary",
            static_details="details\nof two lines",
        ),
        ScheduleSpec(
            calendars=[
                ScheduleCalendarSpec(
                    second=[ScheduleRange(5, 50, 15)],
                    hour=[ScheduleRange(3)],
                    year=[ScheduleRange(2027, 2031)],
                    comment="ü # x",
                )
            ],
            skip=[ScheduleCalendarSpec(month=[ScheduleRange(12)], hour=[ScheduleRange(0, 23)])],
            start_at=datetime(2027, 1, 1, tzinfo=UTC),
            end_at=datetime(2030, 1, 1, 12, 30, tzinfo=UTC),
            jitter=timedelta(seconds=40),
            time_zone_name="America/New_York",
        ),
        policy=SchedulePolicy(ScheduleOverlapPolicy.BUFFER_ONE, timedelta(hours=2), pause_on_failure=True),
        state=ScheduleState(paused=True, note="by hand"),
    ),
}


@pytest.fixture
def server(own_server: DevServer) -> DevServer:
    """Other tests' schedules are not to be exported."""
    return own_server


async def export(server: DevServer, *options: str) -> Finished:
    return await run_command("schedules", "export", *options, env=server.environ)


async def sync(server: DevServer, folder: Path, *options: str) -> Any:
    finished = await run_command(
        "schedules.sync", folder, "--no-preflight", "--output", "json", *options, env=server.environ
    )
    assert finished.code == 0, finished.stderr
    return json.loads(finished.stdout)


async def made_by_the_command_line(server: DevServer) -> None:
    process = await asyncio.create_subprocess_exec(
        *(TEMPORAL, "schedule", "create", "--address", server.address, "--schedule-id", "by-cli", "--type", "Close"),
        *("--workflow-id", "w", "--task-queue", "theirs", "--cron", "30 12 * * Fri", "--overlap-policy", "BufferAll"),
        *("--input", '{"n": 1}', "--time-zone", "Asia/Tokyo"),
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0


async def test_what_others_made_is_taken_over_with_nothing_changed(server: DevServer, tmp_path: Path) -> None:
    client = await Client.connect(server.address)
    for name, schedule in FOREIGN.items():
        await client.create_schedule(name, schedule)
    await made_by_the_command_line(server)
    gateway = TemporalGateway(client)
    while len(await gateway.listed("")) < len(FOREIGN) + 1:
        pass
    before = {name: await gateway.describe(name) for name in [*FOREIGN, "by-cli"]}

    exported = await export(server, "--project", "billing")
    assert exported.code == 0, exported.stderr
    (tmp_path / "jobs.yaml").write_text(exported.stdout)
    plan = await sync(server, tmp_path, "--adopt", "--dry-run")
    assert {change["job"]: [diff["field"] for diff in change["diff"]] for change in plan["changes"]} == {
        name: ["owner"] for name in before
    }
    await sync(server, tmp_path, "--adopt")
    for name, old in before.items():
        now = await gateway.describe(name)
        assert old is not None
        assert now is not None
        assert (now.times, now.action, now.policies) == (old.times, old.action, old.policies)
        assert now.state.paused == old.state.paused
    assert (await sync(server, tmp_path))["changes"] == []

    again = await export(server)
    assert again.code == 0
    assert f"0 of 0 schedules written; {len(before)} already belong to a project" in again.stderr
    assert again.stdout.endswith("jobs: {}\n")


async def test_what_no_spec_can_say_is_said(server: DevServer, tmp_path: Path) -> None:
    client = await Client.connect(server.address)
    limited = Schedule(
        workflow("limited"), weekdays_at_eight(), state=ScheduleState(limited_actions=True, remaining_actions=3)
    )
    await client.create_schedule("limited", limited)
    await client.create_schedule("bytes", Schedule(workflow("bytes", b"\x00\xff"), weekdays_at_eight()))
    fast = ScheduleSpec(cron_expressions=["* * * * *"], jitter=timedelta(milliseconds=1500))
    await client.create_schedule("jitter", Schedule(workflow("jitter"), fast))
    await client.create_schedule("a name / no job has", Schedule(workflow("x"), weekdays_at_eight()))
    await client.create_schedule("never", Schedule(workflow("never"), ScheduleSpec()))
    while len(await TemporalGateway(client).listed("")) < 5:
        pass

    exported = await export(server)
    assert exported.code == 1
    said = exported.stderr
    for line in (
        "limited: only 3 more starts are allowed",
        "bytes (left out): action.args[0] is not JSON",
        "jitter: spec.jitter is 1.500s, and would become 1s",
        "a name / no job has (left out): name: ",
        "never (left out): schedule: ",
    ):
        assert line in said
        assert line.split(":")[1] in exported.stdout
    assert "2 of 5 schedules written" in said


async def test_parts_of_a_second_are_said_with_what_becomes_of_them(server: DevServer, tmp_path: Path) -> None:
    """What is said is what a sync then does."""
    client = await Client.connect(server.address)
    half = timedelta(milliseconds=500)
    parts = ScheduleSpec(
        intervals=[ScheduleIntervalSpec(timedelta(minutes=2)), ScheduleIntervalSpec(timedelta(minutes=1) + half, half)],
        start_at=datetime(2027, 1, 1, 0, 0, 0, 250_000, tzinfo=UTC),
        end_at=datetime(2028, 1, 1, 0, 0, 0, 750_000, tzinfo=UTC),
        jitter=half,
    )
    limits = workflow("parts", run_timeout=timedelta(minutes=1) + half)
    await client.create_schedule(
        "parts", Schedule(limits, parts, policy=SchedulePolicy(catchup_window=timedelta(minutes=1) + half))
    )
    while not await TemporalGateway(client).listed(""):
        pass
    exported = await export(server)
    assert exported.code == 1
    said = [line for line in exported.stderr.splitlines() if line.startswith("parts: ")]
    assert said == [
        "parts: action.start_workflow.workflow_run_timeout is 60.500s, and would become 60s",
        "parts: policies.catchup_window is 60.500s, and would become 60s",
        "parts: spec.end_time is 2028-01-01T00:00:00.750Z, and would become 2028-01-01T00:00:00Z",
        "parts: spec.interval[1].interval is 60.500s, and would become 60s",
        "parts: spec.interval[1].phase is 0.500s, and would become 0s",
        "parts: spec.jitter is 0.500s, and would become (none)",
        "parts: spec.start_time is 2027-01-01T00:00:00.250Z, and would become 2027-01-01T00:00:00Z",
    ]
    (tmp_path / "jobs.yaml").write_text(exported.stdout)
    plan = await sync(server, tmp_path, "--adopt", "--dry-run")
    (change,) = plan["changes"]
    assert [diff["field"] for diff in change["diff"]] == ["owner", *(line.split()[1] for line in said)]
    await sync(server, tmp_path, "--adopt")
    now = await TemporalGateway(client).describe("parts")
    assert now is not None
    assert now.other == ()
    assert (now.times.intervals, now.times.jitter) == ((Interval(120), Interval(60)), 0)


async def test_what_is_exported_has_nothing_for_lint_to_find(server: DevServer, tmp_path: Path) -> None:
    """The times are those of the server, and the limits those of the workflow."""
    client = await Client.connect(server.address)
    every = {"two-minutes": timedelta(minutes=2), "hours": timedelta(hours=6)}
    for name, distance in every.items():
        spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(distance)])
        await client.create_schedule(name, Schedule(workflow(name), spec))
    berlin = ScheduleSpec(cron_expressions=["30 2 * * *", "*/5 * * * *"], time_zone_name="Europe/Berlin")
    await client.create_schedule("berlin", Schedule(workflow("berlin"), berlin))
    await client.create_schedule("friday", Schedule(workflow("friday"), weekdays_at_eight()))
    while len(await TemporalGateway(client).listed("")) < 4:
        pass
    exported = await export(server)
    (tmp_path / "jobs.yaml").write_text(exported.stdout)
    linted = await run_command("schedules", "lint", "--strict", tmp_path)
    assert (linted.code, linted.stderr.count("warning")) == (0, 0), linted.stderr


async def test_an_interval_without_an_offset_is_no_difference_to_one_with_none(
    server: DevServer, tmp_path: Path
) -> None:
    client = await Client.connect(server.address)
    hourly = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(hours=1))])
    await client.create_schedule("hourly", Schedule(workflow("hourly"), hourly))
    five_minutes = ScheduleSpec(cron_expressions=["@every 5m"])
    await client.create_schedule("five", Schedule(workflow("five"), five_minutes))
    while len(await TemporalGateway(client).listed("")) < 2:
        pass
    exported = await export(server)
    assert exported.code == 0, exported.stderr
    (tmp_path / "jobs.yaml").write_text(exported.stdout)
    await sync(server, tmp_path, "--adopt")
    assert (await sync(server, tmp_path, "--check", "--deep"))["changes"] == []


async def test_a_query_chooses(server: DevServer) -> None:
    client = await Client.connect(server.address)
    for name in ("one", "two"):
        await client.create_schedule(name, Schedule(workflow(name), weekdays_at_eight()))
    while len(await TemporalGateway(client).listed("")) < 2:
        pass
    exported = await export(server, "--query", "ScheduleId = 'two'")
    assert exported.code == 0
    assert "  two:\n" in exported.stdout
    assert "  one:\n" not in exported.stdout


async def made_with(server: DevServer, name: str, *options: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(TEMPORAL, "schedule", "create", "--address", server.address, "--schedule-id", name, "--type", "Close"),
        *("--workflow-id", "w", "--task-queue", "theirs", "--interval", "1h", *options),
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0


async def test_a_value_that_no_spec_file_can_hold_does_not_spoil_the_file(server: DevServer, tmp_path: Path) -> None:
    """Half a surrogate pair and a number beyond all bounds are JSON to the server, and nothing that YAML or our reader takes."""
    for name, value in (("half", '"\\ud83d"'), ("huge", "1e400"), ("deep", "[" * 120 + "]" * 120), ("fine", '"x"')):
        await made_with(server, name, "--input", value)
    gateway = TemporalGateway(await Client.connect(server.address))
    while len(await gateway.listed("")) < 4:
        pass
    exported = await export(server)
    assert exported.code == 1
    for name in ("half", "huge", "deep"):
        assert f"{name} (left out): no spec file can hold it: " in exported.stderr
    assert "1 of 4 schedules written" in exported.stderr
    (tmp_path / "jobs.yaml").write_text(exported.stdout)
    plan = await sync(server, tmp_path, "--adopt", "--dry-run")
    assert [change["job"] for change in plan["changes"]] == ["fine"]


async def test_metadata_of_an_argument_is_said_and_put_right(server: DevServer, tmp_path: Path) -> None:
    await made_with(server, "marked", "--input", "1", "--input-meta", "messageType=Order")
    gateway = TemporalGateway(await Client.connect(server.address))
    while not await gateway.listed(""):
        pass
    exported = await export(server)
    assert exported.code == 1
    assert "marked: metadata.args[0].messageType is Order, and would become (none)" in exported.stderr
    (tmp_path / "jobs.yaml").write_text(exported.stdout)
    await sync(server, tmp_path, "--adopt")
    assert (await sync(server, tmp_path, "--check", "--deep"))["changes"] == []


async def test_what_a_schedule_made_anew_would_not_have_is_said(server: DevServer, tmp_path: Path) -> None:
    """A sync keeps it, so that nothing is lost by taking over."""
    await made_with(server, "kept", "--paused", "--notes", "ask Ann", "--schedule-memo", "team=1")
    gateway = TemporalGateway(await Client.connect(server.address))
    while not await gateway.listed(""):
        pass
    exported = await export(server)
    assert exported.code == 0
    for what in ("it is paused", 'its note is "ask Ann"', "its memo has team"):
        line = f"{what}: a sync keeps this, but a new schedule would not have it"
        assert f"kept: {line}" in exported.stderr
        assert f"  # {line}\n" in exported.stdout
