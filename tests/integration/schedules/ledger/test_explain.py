"""`explain` on a real server: what was done to schedules of seconds, and the reason that is told for it."""

from __future__ import annotations

import asyncio
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from temporalio.client import Client, ScheduleBackfill, ScheduleUpdate, ScheduleUpdateInput

from activities.contract import JOB_WORKFLOW
from activities.occurrence import stamp
from schedules.errors import SettingsError
from schedules.ledger.explain import Explained, explain
from schedules.model import Policies
from schedules.views.explain import explained_text
from tests.integration.scenes import SECOND, Scene, now, shell, until
from tests.processes import worker
from tests.runs import request
from tests.servers import DevServer, dev_server

STEP = 2 * SECOND
DAY, MONTH = timedelta(days=1), timedelta(days=30)
HOURLY = {"every": "1h"}


def on_grid(at: datetime) -> datetime:
    """The last time of a job of every two seconds."""
    return datetime.fromtimestamp(int(at.timestamp()) // 2 * 2, at.tzinfo)


async def told(scene: Scene, short: str, at: datetime | str) -> Explained:
    text = at if isinstance(at, str) else stamp(at)
    return await explain(scene.records, scene.id(short), text, now())


def outcome(found: Explained) -> str:
    return found.occurrence.verdict if found.occurrence else found.due.kind


def origin(found: Explained) -> str:
    return found.occurrence.origin if found.occurrence else ""


async def test_what_runs_did_is_told_with_their_attempts(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    retry = {"max_attempts": 2, "backoff": "fixed", "initial": "1s", "max": "1s"}
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"),
        Scene(client, name) as scene,
    ):
        await scene.add("good")
        about: dict[str, Any] = {"description": "Breaks", "contact": "us", "runbook": "https://wiki/breaks"}
        await scene.add("fails", run=shell("echo broken >&2; exit 3"), retry=retry, **about)
        await scene.add("hangs", run={"command": ["sleep", "60"]}, timeout="1s")
        await scene.add("cancelled", run={"command": ["sleep", "60"]})
        await scene.add("terminated", run={"command": ["sleep", "60"]})
        await scene.add("retried", run=shell("exit 4"), retry={**retry, "initial": "600s", "max": "600s"})
        running = await scene.run("cancelled")
        doomed = await scene.run("terminated")
        await until(max(running.started_at, doomed.started_at) + SECOND)
        await client.get_workflow_handle(running.id).cancel()
        await client.get_workflow_handle(doomed.id).terminate(reason="out of patience")
        ended = {short: await scene.ended(short) for short in ("good", "fails", "hangs", "cancelled", "terminated")}
        retried = await scene.run("retried")
        await until(retried.started_at + 2 * SECOND)

        found = {short: await told(scene, short, run.scheduled_at) for short, run in ended.items()}
        waits = explained_text(await told(scene, "retried", retried.scheduled_at))
        last, last_failed = await told(scene, "hangs", ""), await told(scene, "fails", "last-failed")
        with pytest.raises(SettingsError, match="has failed, of the runs that are kept"):
            await told(scene, "good", "last-failed")

    assert {short: outcome(each) for short, each in found.items()} == {
        "good": "succeeded",
        "fails": "failed",
        "hangs": "timed_out",
        "cancelled": "cancelled",
        "terminated": "terminated",
    }
    assert outcome(last_failed) == "failed"
    assert last.due.at >= ended["hangs"].scheduled_at
    text = explained_text(found["fails"])
    assert "\n  about      Breaks\n  contact    us\n  runbook    https://wiki/breaks\n" in text
    assert "attempt 1: " in text
    assert "attempt 2: " in text
    assert text.count("exit code 3: broken") == 3  # the reason, and each attempt
    assert "terminated by" in explained_text(found["terminated"])
    assert "out of patience" in explained_text(found["terminated"])
    assert "cancelled by" in explained_text(found["cancelled"])
    assert "waits for attempt 2, in 9m" in waits
    assert "attempt 1: `/bin/sh` ended with exit code 4" in waits


async def test_each_cause_of_no_run_is_told_from_the_evidence(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"),
        Scene(client, name) as scene,
    ):
        created = now()
        await scene.add("slow", run={"command": ["sleep", "5"]})
        await scene.add("lonely", task_queue=f"{name}-nobody")
        await scene.add("pausing")
        await scene.add("resting", note="over Christmas", paused=True)
        await scene.add("changed", schedule=HOURLY)
        await scene.add("limited")
        await scene.add("nightly", schedule="30 2 * * *")

        handle = client.get_schedule_handle(scene.id("pausing"))
        await scene.run("pausing")
        paused = now()
        await handle.pause(note="deploy of the ledger")
        slow, lonely, _ = await scene.run("slow"), await scene.run("lonely"), await scene.run("limited")
        await client.get_schedule_handle(scene.id("limited")).update(without_remaining_actions)
        used_up = now()
        await until(paused + 5 * SECOND)
        await handle.unpause(note="deployed")
        await scene.change("changed")
        changed = now()
        await scene.run("changed")
        await until(used_up + 14 * SECOND)

        gap, repeat = next_change(2), next_change(1)
        day = ordinary_day({gap, repeat})
        in_pause = on_grid(paused + 3 * SECOND)
        cases: dict[str, tuple[str, datetime | str]] = {
            "before it was created": ("slow", on_grid(created) - timedelta(minutes=1)),
            "while another runs": ("slow", slow.scheduled_at + STEP),
            "while another waits": ("lonely", lonely.scheduled_at + STEP),
            "while it waits": ("lonely", lonely.scheduled_at),
            "while it was paused": ("pausing", in_pause),
            "while it is paused": ("resting", on_grid(created + 3 * SECOND)),
            "under another spec": ("changed", on_grid(changed) - STEP),
            "with no actions left": ("limited", on_grid(used_up) + STEP),
            "in the future": ("nightly", f"{day}T02:30"),
            "in a gap": ("nightly", f"{gap}T02:30"),
            "at a repeated time": ("nightly", f"{repeat}T02:30"),
            "at another time": ("nightly", f"{day}T03:00"),
        }
        found = {case: await told(scene, *asked) for case, asked in cases.items()}

    assert {case: outcome(each) for case, each in found.items()} == {
        "before it was created": "before_creation",
        "while another runs": "overlap_skipped",
        "while another waits": "overlap_skipped",
        "while it waits": "waiting",
        "while it was paused": "paused",
        "while it is paused": "paused",
        "under another spec": "not_due_then",
        "with no actions left": "used_up",
        "in the future": "not_yet_due",
        "in a gap": "no_such_time",
        "at a repeated time": "not_yet_due",
        "at another time": "not_scheduled",
    }
    texts = {case: explained_text(each) for case, each in found.items()}
    assert slow.id in texts["while another runs"]
    assert "no worker has taken it; it waits in its task queue" in texts["while another waits"]
    assert f"no worker polls task queue {name}-nobody" in texts["while it waits"]
    assert "deploy of the ledger" in texts["while it was paused"]
    assert " until 2" in texts["while it was paused"]
    assert "over Christmas" in texts["while it is paused"]
    assert "not due by the schedule of that time" in texts["under another spec"]
    assert f"runs at Sun {gap} 03:00:00 +02:00" in texts["in a gap"]
    assert f"happens twice on {repeat}" in texts["at a repeated time"]
    assert f"after      {day + DAY:%a %Y-%m-%d} 02:30:00" in texts["at another time"]


def next_change(hours: int) -> date:
    """The next day at whose end Berlin is so many hours ahead of UTC, and was not at its beginning."""
    day = now().date() + DAY
    while not (offset(day + DAY) == timedelta(hours=hours) != offset(day)):
        day += DAY
    return day


def ordinary_day(changes: set[date]) -> date:
    """A day about a month from now; neither on it nor on the next the clocks of Berlin change."""
    day = now().date() + MONTH
    while changes & {day, day + DAY}:
        day += DAY
    return day


def offset(day: date) -> timedelta | None:
    return datetime.combine(day, time(), ZoneInfo("Europe/Berlin")).utcoffset()


def without_remaining_actions(given: ScheduleUpdateInput) -> ScheduleUpdate:
    schedule = given.description.schedule
    schedule.state.limited_actions, schedule.state.remaining_actions = True, 0
    return ScheduleUpdate(schedule)


async def test_runs_that_no_schedule_started_are_told_apart(
    server: DevServer, client: Client, name: str, tmp_path: Path
) -> None:
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true"),
        Scene(client, name) as scene,
    ):
        for short in ("triggered", "filled", "byhand"):
            await scene.add(short, schedule=HOURLY)
        await scene.add("moved")
        moved = await scene.ended("moved")
        await scene.change("moved", schedule=HOURLY)
        hour = now().replace(minute=0, second=0, microsecond=0)
        await client.get_schedule_handle(scene.id("triggered")).trigger()
        span = ScheduleBackfill(start_at=hour - timedelta(minutes=61), end_at=hour - timedelta(minutes=59))
        await client.get_schedule_handle(scene.id("filled")).backfill(span)
        by_hand = f"{scene.id('byhand')}-{stamp(hour)}"
        await client.start_workflow(JOB_WORKFLOW, request(job=scene.id("byhand")), id=by_hand, task_queue=name)
        before = hour - timedelta(hours=1)
        await scene.run("filled", lambda run: run.scheduled_at == before and run.closed_at is not None)
        times = {short: (await scene.ended(short)).scheduled_at for short in ("triggered", "byhand")} | {
            "filled": before
        }
        found = {short: await told(scene, short, at) for short, at in {**times, "moved": moved.scheduled_at}.items()}

    assert {short: (outcome(each), origin(each)) for short, each in found.items()} == {
        "triggered": ("succeeded", "trigger"),
        "filled": ("succeeded", "backfill"),
        "byhand": ("succeeded", "by_hand"),
        "moved": ("succeeded", "earlier_spec"),
    }
    assert "due by the schedule of that time" in explained_text(found["moved"])


async def test_an_outage_of_the_server_is_told_from_its_schedulers_silence(name: str, tmp_path: Path) -> None:
    database = tmp_path / "temporal.db"
    with dev_server(database=database) as first:
        scene = Scene(await Client.connect(first.address), name)
        await scene.add("short", Policies("allow_all", 10))
        await scene.add("wide", Policies("skip", 3600))
        async with worker(first.address, cwd=tmp_path, task_queue=name, allow_commands="true"):
            await scene.ended("wide")
            await asyncio.to_thread(first.kill)
            away = now()
            await asyncio.sleep(16)
            with dev_server(port=first.port, database=database) as second:
                scene = Scene(await Client.connect(second.address), name)
                early = on_grid(away + 3 * SECOND)
                late = await scene.run("wide", lambda run: run.started_at > away + 10 * SECOND)
                short = await scene.run("short", lambda run: run.started_at > away + 10 * SECOND)
                assert short.scheduled_at > early
                missed, left_out = (
                    await told(scene, "short", early),
                    await told(scene, "wide", late.scheduled_at + STEP),
                )

    assert outcome(missed) == "superseded"
    assert "the server was away when it was due, and the newest 1 of the missed run" in explained_text(missed)
    assert "the scheduler checked what is due at" in explained_text(missed)
    assert outcome(left_out) == "overlap_skipped"
    assert "the server was away when it was due" in explained_text(left_out)
    assert late.id in explained_text(left_out)
