"""The `python` handler: real functions, on the loop and in threads."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from types import ModuleType
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
import structlog
from pydantic import BaseModel
from structlog.testing import capture_logs
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError

from activities import HandlerError, JobContext, handler
from activities.contract import RetryRequest, StepCall
from activities.observe import StepFinished, StepStarted
from activities.steps.redact import redact_event
from tests.integration.step_failures import details_of, failure_of
from tests.step_calls import bench, step_call
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.step_calls import Bench

pytestmark = pytest.mark.asyncio


class Params(BaseModel):
    """Of most handlers here."""

    day: date = date(2000, 1, 1)
    token: str = ""


def jobs(*functions: Callable[..., Any]) -> ModuleType:
    """A module with these handlers."""
    made = ModuleType("jobs")
    vars(made).update({function.__name__: function for function in functions})
    return made


def python(name: str, *, timeout: float = 30.0, heartbeat_timeout: float = 30.0, **params: Any) -> StepCall:
    given = {"handler": name, "params": params} if params else {"handler": name}
    return step_call("python", given, timeout=timeout, heartbeat_timeout=heartbeat_timeout)


@handler
def facts(params: Params, context: JobContext) -> dict[str, Any]:
    return {
        "day": params.day,
        "job": (context.job, context.step, context.run_id, context.attempt),
        "key": context.idempotency_key,
        "times": [context.interval_start, context.scheduled_at, context.interval_end],
        "zone": str(context.scheduled_at.tzinfo),
        "main": threading.current_thread() is threading.main_thread(),
    }


@handler("facts-async")
async def facts_async(params: Params, context: JobContext) -> dict[str, Any]:
    return facts(params, context)


@pytest.mark.parametrize(("name", "on_loop"), [("facts", False), ("facts-async", True)])
async def test_function_is_told_what_it_runs_for(name: str, on_loop: bool) -> None:
    async with bench(jobs(facts, facts_async)) as made:
        made.at_attempt(2)
        result = await made.run(python(name, day="{scheduled_at:%F}"))
    assert result.output == {
        "day": "2027-03-01",
        "job": ["invoice-dunning", "run", "run-id-1", 2],
        "key": "billing/production/invoice-dunning/2027-03-01T13:00:00Z/run",
        "times": ["2027-02-28T08:00:00-05:00", "2027-03-01T08:00:00-05:00", "2027-03-01T08:00:00-05:00"],
        "zone": "America/New_York",
        "main": on_loop,
    }
    assert result.attempts == 2
    assert made.facts == [
        StepStarted("invoice-dunning", "run", "python", 2),
        StepFinished("invoice-dunning", "run", "python", 2, "succeeded", made.endings[0].duration),
    ]


async def test_the_time_before_is_only_asked_for_when_it_is_needed() -> None:
    asked: list[datetime] = []

    def previous(_times: object, when: datetime) -> None:
        asked.append(when)

    async with bench(jobs(echo), previous_occurrence=previous) as made:
        await made.run(python("echo", token="{scheduled_at} {interval_end}"))
        assert asked == []
        error = await failure_of(made, python("echo", token="{interval_start}"))
    assert asked == [datetime(2027, 3, 1, 8, tzinfo=ZoneInfo("America/New_York"))]
    assert error.non_retryable
    assert "no scheduled time before" in error.message


@handler
def echo(params: Params) -> str:
    return params.token


@dataclass
class Report:
    rows: int
    day: date


@handler
def report() -> list[Any]:
    return [Report(3, date(2027, 3, 1)), Params(token="t"), {1: timedelta(seconds=90)}]


async def test_models_dataclasses_and_dates_become_json() -> None:
    async with bench(jobs(report)) as made:
        output = (await made.run(python("report"))).output
    assert output == [{"rows": 3, "day": "2027-03-01"}, {"day": "2000-01-01", "token": "t"}, {"1": "PT1M30S"}]


@handler
def big() -> dict[str, str]:
    return {"text": "ü" * 1_000_000}


async def test_a_large_result_is_cut_and_the_run_succeeds() -> None:
    async with bench(jobs(big)) as made:
        output = (await made.run(python("big"))).output
    assert output.startswith('{"text": "üüü')
    assert output.endswith("… [cut, 1000012 characters in all]")
    assert len(output) < 66_000


@handler
def unprintable() -> Any:
    return {"lock": threading.Lock()}


@handler
def infinite() -> float:
    return float("inf")


@handler
def circular() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize("function", [unprintable, infinite, circular])
async def test_a_result_that_is_no_json_is_a_permanent_error(function: Callable[..., Any]) -> None:
    async with bench(jobs(function)) as made:
        error = await failure_of(made, python(function.__name__))
    assert error.non_retryable
    assert "not JSON" in error.message


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (python("echo", day="yesterday"), "`day`"),
        (python("ehco"), "did you mean `echo`"),
        (python("report", x=1), "takes no parameters"),
        (python("echo", token="{nope}"), "`{nope}`"),
        (python("echo", token="${secret:NOPE}"), "TICKWRIGHT_SECRET_NOPE"),
        (step_call("python", {"params": {}}), "`handler` is required"),
        (step_call("python", {"handler": "echo"}, timezone="Mars/Olympus"), "Mars/Olympus"),
        (step_call("workflow", {"type": "X"}), "`workflow`"),
    ],
)
async def test_what_no_attempt_can_mend_is_permanent(call: StepCall, said: str) -> None:
    async with bench(jobs(echo, report)) as made:
        error = await failure_of(made, call)
    assert (error.type, error.non_retryable) == ("handler_failed", True)
    assert said in error.message


@handler
def divide() -> float:
    return 1 / 0


@handler
async def divide_async() -> float:
    return 1 / 0


@handler
def leave() -> None:
    sys.exit(3)


@handler
async def leave_async() -> None:
    sys.exit(3)


@handler
async def interrupt_async(params: Params) -> None:
    raise KeyboardInterrupt(params.token)


@handler
def stop() -> None:
    raise StopIteration


@handler
async def cancel_itself() -> None:
    raise asyncio.CancelledError


@handler
def bad_name() -> None:
    raise OSError("file caf\udce9")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (divide, "ZeroDivisionError: division by zero"),
        (divide_async, "ZeroDivisionError: division by zero"),
        (leave, "SystemExit: 3"),
        (leave_async, "SystemExit: 3"),
        (stop, "StopIteration"),
        (cancel_itself, "CancelledError"),
        (bad_name, "OSError: file caf\ufffd"),
    ],
)
async def test_an_exception_is_a_failure_that_may_be_tried_again(function: Callable[..., Any], said: str) -> None:
    async with bench(jobs(function)) as made:
        error = await failure_of(made, python(function.__name__))
    assert (error.type, error.non_retryable, error.next_retry_delay) == ("handler_failed", False, timedelta(seconds=10))
    assert said in error.message
    assert f"in {function.__name__}" in details_of(error)["traceback"]


@handler
def verdict(params: Params) -> None:
    if params.token == "temporal":
        raise ApplicationError("closed account", non_retryable=True)
    raise HandlerError("not yet", permanent=params.token == "permanent", retry_after=77, details={"left": 3})


async def test_a_function_can_judge_its_failure_itself() -> None:
    async with bench(jobs(verdict)) as made:
        later = await failure_of(made, python("verdict", token="later"))
        never = await failure_of(made, python("verdict", token="permanent"))
        temporal = await failure_of(made, python("verdict", token="temporal"))
    assert (later.non_retryable, later.next_retry_delay, details_of(later)["left"]) == (False, timedelta(seconds=77), 3)
    assert (never.non_retryable, never.next_retry_delay) == (True, None)
    assert (temporal.non_retryable, temporal.message) == (True, "closed account")


@handler
def careless() -> None:
    raise HandlerError(
        ValueError("odd"),  # type: ignore[arg-type]  # a user's code need not be typed
        retry_after=float("inf"),
        details={"when": date(2027, 3, 1), "lock": threading.Lock(), 3: "x" * 100_000},  # type: ignore[dict-item]  # as above
    )


async def test_a_failure_with_unfit_details_is_still_told() -> None:
    async with bench(jobs(careless)) as made:
        error = await failure_of(made, python("careless"))
    assert (error.type, error.message, error.non_retryable) == ("handler_failed", "odd", False)
    assert error.next_retry_delay == timedelta(days=30)
    assert "datetime.date(2027, 3, 1)" in details_of(error)["cut"]
    assert len(json.dumps(error.details)) < 33_000


@handler
def patient(context: JobContext) -> None:
    context.heartbeat("began")
    assert context.cancelled.wait(20)
    context.heartbeat("noticed")


@handler
async def patient_async(context: JobContext) -> None:
    context.heartbeat("began")
    try:
        await asyncio.sleep(20)
    finally:
        context.heartbeat("noticed")


@pytest.mark.parametrize("function", [patient, patient_async])
async def test_out_of_time_is_a_failure_of_its_own_type(function: Callable[..., Any]) -> None:
    async with bench(jobs(function)) as made:
        error = await failure_of(made, python(function.__name__, timeout=0.2))
        await until(lambda: ("noticed",) in made.heartbeats)
    assert (error.type, error.non_retryable, error.next_retry_delay) == (
        "handler_timeout",
        False,
        timedelta(seconds=10),
    )
    assert error.message == "timed out after 0.2 s"
    assert made.outcomes == ["timed_out"]


@pytest.mark.parametrize("function", [patient, patient_async])
async def test_cancelling_the_run_cancels_the_function(function: Callable[..., Any]) -> None:
    async with bench(jobs(function)) as made:
        running = asyncio.create_task(made.run(python(function.__name__)))
        await until(lambda: ("began",) in made.heartbeats)
        made.environment.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: ("noticed",) in made.heartbeats)
    assert made.outcomes == ["cancelled"]


@pytest.mark.parametrize("function", [patient, patient_async])
async def test_a_draining_worker_gives_the_step_back_with_its_progress(function: Callable[..., Any]) -> None:
    """Not tried again by the server, which would count the attempt; the run starts the step anew."""
    async with bench(jobs(function)) as made:
        running = asyncio.create_task(failure_of(made, replace(python(function.__name__), earlier_attempts=2)))
        await until(lambda: ("began",) in made.heartbeats)
        made.environment.worker_shutdown()
        made.environment.cancel(ActivityCancellationDetails(worker_shutdown=True))
        error = await running
    assert (error.type, error.non_retryable, error.next_retry_delay) == ("worker_shutdown", True, None)
    assert error.details[0]["attempt"] == 3
    assert error.details[1] in {"began", "noticed"}


async def test_a_run_cancelled_during_a_drain_is_cancelled() -> None:
    async with bench(jobs(patient_async)) as made:
        running = asyncio.create_task(made.run(python("patient_async")))
        await until(lambda: ("began",) in made.heartbeats)
        made.environment.worker_shutdown()
        made.environment.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_a_thread_that_does_not_listen_is_given_up_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.handlers.calls.STOP_GRACE", 0.1)
    release = threading.Event()

    @handler
    def deaf() -> None:
        release.wait(20)

    async with bench(jobs(deaf)) as made:
        error = await failure_of(made, python("deaf", timeout=0.1))
        release.set()
    assert "context.cancelled" in details_of(error)["still_running"]


async def test_functions_that_hang_take_no_place_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.handlers.calls.STOP_GRACE", 0.05)
    release = threading.Event()

    @handler
    def hangs() -> None:
        release.wait(20)

    @handler
    def instant() -> str:
        return "done"

    async with bench(jobs(hangs, instant)) as made:
        await asyncio.gather(*(failure_of(made, python("hangs", timeout=0.1)) for _ in range(40)))
        assert made.calls.given_up == 40
        assert (await made.run(python("instant", timeout=5))).output == "done"
        release.set()
        await until(lambda: made.calls.given_up == 0)


@pytest.mark.parametrize("ends", [True, False])
async def test_a_coroutine_that_swallows_its_cancellation_is_out_of_time_all_the_same(
    ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.handlers.calls.STOP_GRACE", 0.1)
    release = asyncio.Event()

    @handler
    async def deaf() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(20)
        if not ends:
            await release.wait()
        return "late"

    async with bench(jobs(deaf)) as made:
        error = await failure_of(made, python("deaf", timeout=0.1))
        assert made.calls.given_up == (0 if ends else 1)
        release.set()
        await until(lambda: made.calls.given_up == 0)
    assert (error.type, error.message) == ("handler_timeout", "timed out after 0.1 s")
    assert ("still_running" in details_of(error)) == (not ends)


@handler
def progress(context: JobContext) -> Any:
    context.heartbeat({"row": 7, "token": "s3same"})
    assert context.cancelled.wait(20)


async def test_heartbeats_go_on_by_themselves_with_the_last_details() -> None:
    """A third of the heartbeat timeout apart; details of an earlier attempt stay until there are new ones."""
    async with bench(jobs(patient_async)) as made:
        made.at_attempt(2, last_heartbeat={"row": 7})
        began = time.monotonic()
        await failure_of(made, python("patient_async", timeout=1.5, heartbeat_timeout=0.3))
        most = (time.monotonic() - began) / 0.1 + 1
    assert made.heartbeats[0] == ({"row": 7},)
    assert made.heartbeats[1] == ("began",)
    assert 3 <= made.heartbeats.count(("began",)) <= most


async def test_no_heartbeat_follows_the_end() -> None:
    async with bench(jobs(echo)) as made:
        await made.run(python("echo", heartbeat_timeout=0.03))
        sent = len(made.heartbeats)
        await asyncio.sleep(0.1)
        assert len(made.heartbeats) == sent


@handler
def resume(params: Params, context: JobContext) -> Any:
    context.heartbeat({"row": 7, "token": params.token})
    return context.last_heartbeat


async def test_progress_of_an_earlier_attempt_is_there_for_the_next() -> None:
    async with bench(jobs(resume), secrets={"TOKEN": "s3same"}) as made:
        made.at_attempt(2, last_heartbeat={"row": 5})
        result = await made.run(python("resume", token="${secret:TOKEN}"))
        await until(lambda: made.heartbeats[-1] == ({"row": 7, "token": "***"}, [["token"]]))
    assert result.output == {"row": 5}


@handler
def beats(params: Params, context: JobContext) -> None:
    context.heartbeat(threading.Lock() if params.token == "lock" else "x" * 70_000)


@pytest.mark.parametrize(("token", "said"), [("lock", "not JSON"), ("huge", "70002")])
async def test_unfit_heartbeat_details_are_an_error_of_the_function(token: str, said: str) -> None:
    async with bench(jobs(beats)) as made:
        error = await failure_of(made, python("beats", token=token))
    assert error.message.startswith("ValueError: ")
    assert said in error.message


@handler
def chatty(params: Params, context: JobContext) -> Any:
    context.logger.info("got it", token=params.token)
    structlog.get_logger().info("also", nested={"t": [params.token]})
    if params.token == "boom":
        raise ValueError(f"bad {params.token}")
    return {"token": params.token, params.token: 1}


async def test_log_lines_carry_the_run_and_no_secret() -> None:
    run = {
        "job": "invoice-dunning",
        "scheduled_time": "2027-03-01T13:00:00Z",
        "run_id": "run-id-1",
        "step": "run",
        "attempt": 1,
    }
    with capture_logs(processors=[structlog.contextvars.merge_contextvars, redact_event]) as lines:
        async with bench(jobs(chatty), secrets={"TOKEN": "boom"}) as made:
            error = await failure_of(made, python("chatty", token="${secret:TOKEN}"))
    assert [line.get("action") for line in lines] == ["step_started", None, None, "step_failed"]
    assert all(line.items() >= run.items() for line in lines)
    assert lines[1]["token"] == "***"
    assert lines[2]["nested"] == {"t": ["***"]}
    assert (lines[3]["error"], lines[3]["retry_in"], lines[3]["permanent"]) == ("ValueError: bad ***", 10.0, False)
    assert error.message == "ValueError: bad ***"
    assert "boom" not in json.dumps(lines) + json.dumps(error.details)


async def test_an_exception_that_is_none_by_its_class_is_told_without_secrets() -> None:
    with capture_logs(processors=[redact_event]) as lines:
        async with bench(jobs(interrupt_async), secrets={"TOKEN": "boom"}) as made:
            error = await failure_of(made, python("interrupt_async", token="${secret:TOKEN}"))
    assert lines[-1]["action"] == "step_failed"
    assert error.message == lines[-1]["error"] == "KeyboardInterrupt: ***"


async def test_a_secret_in_a_result_is_taken_out() -> None:
    async with bench(jobs(chatty), secrets={"TOKEN": "s3same"}) as made:
        assert (await made.run(python("chatty", token="${secret:TOKEN}"))).output == {"token": "***", "***": 1}


async def test_the_last_attempt_announces_no_retry() -> None:
    with capture_logs() as lines:
        async with bench(jobs(divide)) as made:
            await failure_of(made, step_call("python", {"handler": "divide"}, retry=RetryRequest(max_attempts=1)))
    assert "retry_in" not in lines[-1]


async def test_arguments_of_a_workflow_step_are_filled_in_without_secrets() -> None:
    async with bench() as made:
        args = await render(made, ["{scheduled_at:%F}", {"job": "{job}"}, 3])
        with pytest.raises(ApplicationError) as secret:
            await render(made, ["${secret:TOKEN}"])
        with pytest.raises(ApplicationError) as attempt:
            await render(made, ["{attempt}"])
    assert args == ["2027-03-01", {"job": "invoice-dunning"}, 3]
    assert secret.value.non_retryable
    assert "history" in secret.value.message
    assert attempt.value.non_retryable


async def render(made: Bench, args: list[Any]) -> list[Any]:
    call = step_call("workflow", {"type": "Report", "args": args})
    return await made.environment.run(made.activities.render_arguments, call)
