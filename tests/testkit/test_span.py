"""Jobs run over spans of scheduled times, on the real time-skipping server."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from aiohttp import web

from activities import HandlerError
from activities.contract import StepRequest
from schedules.spec.entries import CronEntry, EveryEntry
from schedules.spec.handlers import RunSpec
from schedules.spec.job import JobSpec
from schedules.spec.kinds.workflow import WorkflowSpec
from tests.testkit.conftest import SECRETS
from worker.testkit import Call, Fault, KitError, StandIn, TestKit
from worker.testkit.request import on_the_kits_worker
from worker.testkit.server import Clock

if TYPE_CHECKING:
    from pathlib import Path

NEW_YORK = ZoneInfo("America/New_York")


async def test_all_of_march_with_the_clock_change_and_a_third_attempt_that_fails(kit: TestKit, specs: Path) -> None:
    march = await kit.run(
        specs,
        job="nightly",
        start="2027-03-01",
        end="2027-04-01",
        http={"status": 200},
        secrets=SECRETS,
        faults=[Fault("2027-03-14", attempts=(1, 2, 3), error="503")],
    )

    assert march.outcomes == {"succeeded": 30, "failed": 1}
    failed = march["2027-03-14"]
    assert (failed.outcome, failed.attempts, failed.reason) == ("failed", 3, "step run: 503")
    assert 240 <= failed.duration < 300  # twice two minutes between the attempts
    assert [each.scheduled_at.hour for each in march[12:15]] == [2, 3, 2]  # 02:30 does not exist: 03:00
    assert march["2027-03-14T03:00"] is failed
    assert march[datetime(2027, 3, 14, 7, tzinfo=UTC)] is failed
    assert march[date(2027, 3, 15)].scheduled_at == datetime(2027, 3, 15, 2, 30, tzinfo=NEW_YORK)


async def test_what_each_night_would_have_sent_is_recorded_without_the_secret(kit: TestKit, specs: Path) -> None:
    given: list[str] = []

    def ledger(call: Call) -> Any:
        given.append(call.params["headers"]["Authorization"])
        return {"seen": given[-1]}

    march = await kit.run(specs, job="nightly", start="2027-03-13", end="2027-03-16", http=ledger, secrets=SECRETS)

    assert [call.params["json"] for call in march.calls] == [
        {"day": "2027-03-13", "since": "2027-03-12"},
        {"day": "2027-03-14", "since": "2027-03-13"},
        {"day": "2027-03-15", "since": "2027-03-14"},
    ]
    assert [call.idempotency_key for call in march.calls][1] == "billing/default/nightly/2027-03-14T07:00:00Z/run"
    assert set(given) == {"Bearer s3cret-t0ken"}
    assert march[0].output == {"seen": "Bearer ***"}
    assert march[0].calls[0].params["headers"] == {"Authorization": "Bearer ${secret:TOKEN}"}
    assert "s3cret" not in repr(march) + repr(list(march))


async def test_payroll_is_run_on_the_business_day_before(kit: TestKit, specs: Path) -> None:
    year = await kit.run(specs, job="payroll", start="2027-01-01", end="2028-01-01", command={"exit_code": 0})

    assert year.outcomes == {"succeeded": 12}
    # 15 May is a Saturday, 15 August a Sunday, 15 February Presidents' Day, and the Friday before is Lincoln's Birthday.
    assert [f"{each.scheduled_at:%m-%d}" for each in year if each.scheduled_at.day != 15] == ["02-11", "05-14", "08-13"]
    assert year["2027-08-13"].calls[0].params["argv"] == ["echo", "2027-08-13"]


async def test_commands_are_really_run_where_the_test_allows_it(kit: TestKit, specs: Path) -> None:
    [payday] = await kit.run(specs, job="payroll", start="2027-03-15", allow_commands=True)

    assert payday.output == {"exit_code": 0, "stdout": "2027-03-15\n", "stderr": ""}


async def test_requests_reach_a_server_of_the_test(kit: TestKit) -> None:
    keys: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        return web.Response(status=503 if len(keys) == 1 else 200, text="thanks")

    application = web.Application()
    application.router.add_post("/post", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    job = {"schedule": "@daily", "timezone": "UTC", "timeout": "1m", "retry": {"max_attempts": 2}}
    run = {"http": {"url": f"http://127.0.0.1:{port}/post"}}
    try:
        [day] = await kit.run(JobSpec.model_validate({"name": "post", **job, "run": run}), start="2027-03-01")
    finally:
        await runner.cleanup()

    assert (day.outcome, day.attempts, day.output) == ("succeeded", 2, {"status": 200, "body": "thanks"})
    assert keys == ["test/default/post/2027-03-01T00:00:00Z/run"] * 2


async def test_a_handler_of_a_module_is_run_by_the_scheduled_time(kit: TestKit, specs: Path, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "demo.db") as connection:
        connection.execute("CREATE TABLE requests (at INTEGER)")
        rows = [(datetime(2027, 2, day, 12, tzinfo=NEW_YORK).timestamp(),) for day in (20, 21, 22)]
        connection.executemany("INSERT INTO requests VALUES (?)", rows)

    days = await kit.run(
        specs,
        job="cleanup",
        start="2027-02-28",
        end="2027-03-03",
        modules=["examples.handlers"],
        secrets={"STATE": str(tmp_path)},
    )

    assert [day.output for day in days] == [{"deleted": 1}, {"deleted": 1}, {"deleted": 1}]


async def test_an_environment_is_chosen_by_name(kit: TestKit, specs: Path) -> None:
    fault = Fault(attempts=1)

    [day] = await kit.run(
        specs, job="nightly", start="2027-03-01", env="production", http={}, secrets=SECRETS, faults=[fault]
    )

    assert (day.outcome, day.attempts) == ("failed", 1)


async def test_a_lost_answer_leaves_what_was_done_and_is_tried_again(kit: TestKit, specs: Path) -> None:
    fault = Fault(attempts=1, after=True, error=TimeoutError())

    [day] = await kit.run(specs, job="nightly", start="2027-03-01", http={}, secrets=SECRETS, faults=[fault])

    assert (day.outcome, day.attempts) == ("succeeded", 2)
    assert [call.attempt for call in day.calls] == [1, 2]
    assert len({call.idempotency_key for call in day.calls}) == 1
    assert 420 <= day.duration < 480  # the timeout of five minutes, then two until the next attempt


@pytest.mark.parametrize(
    ("error", "outcome", "attempts", "reason"),
    [
        (TimeoutError(), "timed_out", 3, "step run: timed out after 300 s"),
        (ValueError("no rows"), "failed", 3, "step run: ValueError: no rows"),
        (HandlerError("no such account", permanent=True), "failed", 1, "step run: no such account"),
    ],
)
async def test_faults_count_as_what_they_are(
    kit: TestKit, specs: Path, error: Exception, outcome: str, attempts: int, reason: str
) -> None:
    [day] = await kit.run(
        specs, job="nightly", start="2027-03-01", http={}, secrets=SECRETS, faults=[Fault(error=error)]
    )

    assert (day.outcome, day.attempts, day.reason) == (outcome, attempts, reason)
    assert not day.calls


@pytest.mark.parametrize("kind", ["value", "function", "coroutine"])
async def test_a_stand_in_is_a_value_or_a_function(kit: TestKit, specs: Path, kind: str) -> None:
    async def later(call: Call) -> int:
        return call.attempt

    stand_ins: dict[str, StandIn] = {"value": 1, "function": lambda call: call.attempt, "coroutine": later}

    [day] = await kit.run(specs, job="payroll", start="2027-03-15", steps={"run": stand_ins[kind]})

    assert day.output == 1


async def test_a_stand_in_that_raises_fails_its_attempt(kit: TestKit, specs: Path) -> None:
    def busy(call: Call) -> str:
        if call.attempt == 1:
            raise OSError("disk full")
        return "done"

    [day] = await kit.run(specs, job="payroll", start="2027-03-15", command=busy)

    assert (day.outcome, day.attempts, day.output) == ("succeeded", 2, "done")


async def test_an_assertion_of_a_stand_in_fails_the_test(kit: TestKit, specs: Path) -> None:
    def check(call: Call) -> None:
        assert call.params["argv"][1] == "2027-03-16"

    with pytest.raises(AssertionError, match="2027-03-15"):
        await kit.run(specs, job="payroll", start="2027-03-15", command=check)


async def test_a_workflow_is_run_as_it_is_and_may_have_a_stand_in(kit: TestKit) -> None:
    job = JobSpec(
        name="payouts",
        schedule=(CronEntry(cron="0 9 * * 1-5"),),
        timezone="Europe/Berlin",
        timeout=timedelta(hours=9),
        run=RunSpec(workflow=WorkflowSpec(type="PayoutApproval", args=("{scheduled_at:%F}", 8))),
    )

    [real] = await kit.run(job, start="2027-03-01", modules=["examples.approval"])
    [stood_in] = await kit.run(job, start="2027-03-01", workflow=lambda call: call.params["args"])

    assert (real.outcome, real.reason) == ("failed", "step run: nobody approved the payouts of 2027-03-01")
    assert 8 * 3600 <= real.duration < 8 * 3600 + 60
    assert (stood_in.outcome, stood_in.output) == ("succeeded", ["2027-03-01", 8])
    assert stood_in.calls[0].handler == "workflow"


async def test_the_servers_clock_shows_the_scheduled_time_of_a_span_to_come(kit: TestKit, specs: Path) -> None:
    seen: list[datetime] = []

    async def look(_call: Call) -> None:
        assert kit._server is not None
        client = await kit._client(datetime.now(UTC) - timedelta(days=1))
        seen.append(await Clock(client.test_service).now())

    for _ in range(2):  # the second time the clock is past it, and another server is started
        days = await kit.run(specs, job="payroll", start="2035-03-01", end="2035-05-01", command=look)
        late = [now - day.scheduled_at for now, day in zip(seen, days, strict=True)]
        assert all(timedelta(0) <= each < timedelta(minutes=1) for each in late)
        seen.clear()


async def test_a_span_of_the_past_is_run_like_any_other(kit: TestKit, specs: Path) -> None:
    days = await kit.run(specs, job="nightly", start="2024-03-01", end="2024-04-01", http={}, secrets=SECRETS)

    assert days.outcomes == {"succeeded": 31}
    assert {day.lateness for day in days} == {0.0}


def test_steps_of_other_task_queues_are_run_by_the_kit_too() -> None:
    undo = StepRequest("undo", "command", {}, timeout=1, heartbeat_timeout=1, task_queue="gpu")
    step = replace(undo, name="render", compensate=undo)

    here = on_the_kits_worker(step, lambda _: False)

    assert (here.task_queue, here.compensate and here.compensate.task_queue) == ("", "")


async def test_the_last_success_is_handed_on(kit: TestKit, specs: Path) -> None:
    client = None
    days = await kit.run(
        specs,
        job="payroll",
        start="2027-03-01",
        end="2027-06-01",
        command=lambda call: f"{call.scheduled_at:%B}",
        faults=[Fault("2027-04-15")],
    )
    assert days.outcomes == {"succeeded": 2, "failed": 1}
    assert kit._server is not None
    client = await kit._client(datetime.now(UTC) - timedelta(days=1))

    given = []
    for each in days:
        history = await client.get_workflow_handle(
            f"payroll-{each.scheduled_at.astimezone(UTC):%FT%TZ}"
        ).fetch_history()
        payloads = history.events[0].workflow_execution_started_event_attributes.input.payloads
        given.append((await client.data_converter.decode(payloads))[0]["handover"])

    assert given[0] is None
    assert [each["last_success"] for each in given[1:]] == [
        {"scheduled_at": "2027-03-15T13:00:00Z", "outputs": {"run": "March"}, "altered": {}}
    ] * 2


@pytest.mark.parametrize(
    ("overlap", "outcomes", "lateness"),
    [
        # Each run has three attempts, three minutes apart: six minutes, and the next is due after five.
        ("skip", ["failed", "skipped", "failed", "skipped"], [0, 0, 0, 0]),
        ("buffer_one", ["failed"] * 4, [0, 60, 120, 180]),
        ("buffer_all", ["failed"] * 4, [0, 60, 120, 180]),
        ("cancel_other", ["cancelled"] * 4, [0, 0, 0, 0]),
        ("terminate_other", ["terminated"] * 4, [0, 0, 0, 0]),
        ("allow_all", ["failed"] * 4, [0, 0, 0, 0]),
    ],
)
async def test_a_run_that_is_longer_than_the_gap_meets_the_overlap_policy(
    kit: TestKit, overlap: Any, outcomes: list[str], lateness: list[int]
) -> None:
    retry = {"max_attempts": 3, "backoff": "fixed", "initial": "3m"}
    job = JobSpec.model_validate(
        {"name": "slow", "schedule": {"every": "5m"}, "timezone": "UTC", "timeout": "1m", "retry": retry,
         "overlap": overlap, "run": {"command": ["false"]}}
    )  # fmt: skip

    found = await kit.run(job, start="2027-03-01T00:00", end="2027-03-01T00:20", command={}, faults=[Fault()])

    assert [each.outcome for each in found] == outcomes
    assert [each.lateness for each in found] == pytest.approx(lateness, abs=25)
    assert all(overlap in each.reason for each in found if each.outcome in {"skipped", "cancelled", "terminated"})


async def test_only_one_waits_under_buffer_one(kit: TestKit) -> None:
    job = JobSpec(
        name="slow",
        schedule=(EveryEntry(every=timedelta(minutes=5)),),
        timezone="UTC",
        timeout=timedelta(minutes=12),
        overlap="buffer_one",
        run=RunSpec.model_validate({"command": ["false"]}),
    )

    found = await kit.run(
        job, start="2027-03-01T00:00", end="2027-03-01T00:20", command={}, faults=[Fault(error=TimeoutError())]
    )

    # 00:00 goes until 00:12, 00:05 waits for it, 00:10 finds one waiting, 00:15 waits for 00:05.
    assert [each.outcome for each in found] == ["timed_out", "timed_out", "skipped", "timed_out"]
    assert [each.lateness for each in found] == pytest.approx([0, 7 * 60, 0, 9 * 60], abs=25)


async def test_a_second_run_at_the_same_time_is_refused(kit: TestKit, specs: Path) -> None:
    async def again(_call: Call) -> None:
        with pytest.raises(KitError, match="another run"):
            await kit.run(specs, job="payroll", start="2027-03-15", command={})

    [day] = await kit.run(specs, job="payroll", start="2027-03-15", command=again)

    assert day.outcome == "succeeded"
