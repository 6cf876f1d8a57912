"""JobWorkflow on the time-skipping server: hours of back-off, deadlines and children in moments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
import pytest_asyncio
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities import HandlerError, JobContext, handler
from activities.contract import Backoff, RetryRequest
from tests.child_workflow import Child
from tests.runs import failure, request, start
from tests.servers import TEST_SERVER
from tests.step_calls import bench
from workflows.job import JobWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOUR = 3600.0
Ending = Callable[[], Awaitable[Any]]


@dataclass
class Script:
    """What the handler `play` does, attempt by attempt; the last ending repeats. `starts` are virtual times."""

    endings: list[Ending] = field(default_factory=list)
    starts: list[datetime] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def waits(self) -> list[float]:
        """Virtual seconds between the starts of attempts."""
        return [(later - earlier).total_seconds() for earlier, later in pairwise(self.starts)]

    def module(self) -> ModuleType:
        @handler("play")
        async def play(context: JobContext) -> Any:
            self.starts.append(activity.info().started_time)
            self.began.set()
            return await self.endings[min(context.attempt, len(self.endings)) - 1]()

        module = ModuleType("script")
        vars(module)["play"] = play
        return module


async def succeed() -> str:
    return "posted"


async def fail() -> None:
    raise HandlerError("no answer")


async def fail_for_good() -> None:
    raise HandlerError("no such account", permanent=True)


async def never_end() -> None:
    await asyncio.Event().wait()


PLAY = {"handler": "play"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def time() -> AsyncIterator[WorkflowEnvironment]:
    """A server whose time passes at once when nothing runs and somebody waits."""
    environment = await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER))
    async with environment:
        yield environment


@pytest_asyncio.fixture(loop_scope="module")
async def script(time: WorkflowEnvironment, name: str) -> AsyncIterator[Script]:
    """A worker on the task queue `name` whose handler `play` follows the script."""
    script = Script()
    async with (
        bench(script.module()) as parts,
        Worker(
            time.client,
            task_queue=name,
            workflows=[JobWorkflow, Child],
            activities=parts.activities.activities,
            max_heartbeat_throttle_interval=timedelta(seconds=0.1),
        ),
    ):
        yield script


@pytest.fixture
def client(time: WorkflowEnvironment) -> Client:
    return time.client


def retry(attempts: int, backoff: Backoff = "fixed", initial: float = HOUR, longest: float = HOUR) -> RetryRequest:
    return RetryRequest(max_attempts=attempts, backoff=backoff, initial=initial, max=longest)


@pytest.mark.parametrize(
    ("policy", "hours"),
    [
        (retry(6, "exponential", HOUR, 5 * HOUR), [1, 2, 4, 5, 5]),
        (retry(5, "linear", HOUR, 3 * HOUR), [1, 2, 3, 3]),
        (retry(4, "fixed", 2 * HOUR, 9 * HOUR), [2, 2, 2]),
    ],
    ids=["exponential", "linear", "fixed"],
)
async def test_attempts_are_spaced_as_the_backoff_says(
    policy: RetryRequest, hours: list[int], client: Client, script: Script, name: str
) -> None:
    script.endings = [*[fail] * len(hours), succeed]
    result = await (await start(client, request("python", PLAY, job=name, retry=policy), name)).result()
    assert script.waits == pytest.approx([hour * HOUR for hour in hours], abs=1)
    assert (result.outcome, result.attempts) == ("succeeded", len(hours) + 1)
    assert result.duration == pytest.approx(sum(hours) * HOUR, abs=2)


async def test_a_run_fails_once_its_attempts_are_used_up(client: Client, script: Script, name: str) -> None:
    script.endings = [fail]
    ended = await failure(await start(client, request("python", PLAY, job=name, retry=retry(3)), name))
    assert (ended.type, ended.message) == ("failed", "step run: no answer")
    assert (ended.result["attempts"], len(script.starts)) == (3, 3)


async def test_a_permanent_failure_is_not_tried_again(client: Client, script: Script, name: str) -> None:
    script.endings = [fail_for_good]
    ended = await failure(await start(client, request("python", PLAY, job=name, retry=retry(3)), name))
    assert (ended.type, ended.message) == ("failed", "step run: no such account")
    assert (ended.result["attempts"], len(script.starts)) == (1, 1)


async def test_an_attempt_that_takes_too_long_is_tried_again(client: Client, script: Script, name: str) -> None:
    script.endings = [never_end, succeed]
    what = request("python", PLAY, job=name, timeout=0.1, retry=retry(2))
    result = await (await start(client, what, name)).result()
    assert (result.outcome, result.attempts) == ("succeeded", 2)
    assert script.waits == pytest.approx([HOUR], abs=1)


async def test_a_run_whose_last_attempt_takes_too_long_has_timed_out(client: Client, script: Script, name: str) -> None:
    script.endings = [never_end]
    ended = await failure(await start(client, request("python", PLAY, job=name, timeout=0.1), name))
    assert (ended.type, ended.message) == ("timed_out", "step run: timed out after 0.1 s")


async def test_the_deadline_ends_the_waiting_for_another_attempt(client: Client, script: Script, name: str) -> None:
    """Attempts at 0 h and 1 h; the next would be at 3 h."""
    script.endings = [fail]
    what = request("python", PLAY, job=name, retry=retry(9, "exponential", HOUR, 9 * HOUR), deadline=1.5 * HOUR)
    ended = await failure(await start(client, what, name))
    assert (ended.type, ended.result["outcome"], len(script.starts)) == ("timed_out", "timed_out", 2)
    assert "the deadline leaves no time for another attempt; last attempt: no answer" in ended.message
    assert ended.result["duration"] <= 1.5 * HOUR + 1


async def test_the_deadline_ends_a_running_attempt(client: Client, script: Script, name: str) -> None:
    script.endings = [never_end]
    what = request("python", PLAY, job=name, heartbeat_timeout=0.5, retry=retry(9), deadline=1.0)
    ended = await failure(await start(client, what, name))
    assert (ended.type, ended.result["outcome"]) == ("timed_out", "timed_out")


async def test_a_run_can_be_cancelled_while_it_waits_for_its_next_attempt(
    client: Client, script: Script, name: str
) -> None:
    script.endings = [fail]
    run = await start(client, request("python", PLAY, job=name, retry=retry(9)), name)
    await script.began.wait()
    await run.cancel()
    await until_closed(run)
    with pytest.raises(WorkflowFailureError) as ended:
        await run.result()
    assert isinstance(ended.value.cause, CancelledError)
    assert len(script.starts) == 1


async def test_cancelling_a_run_reaches_its_running_step(client: Client, script: Script, name: str) -> None:
    reached = asyncio.Event()

    async def note_the_end() -> None:
        try:
            await never_end()
        finally:
            reached.set()

    script.endings = [note_the_end]
    run = await start(client, request("python", PLAY, job=name, heartbeat_timeout=0.5), name)
    await script.began.wait()
    await run.cancel()
    await until_closed(run)
    with pytest.raises(WorkflowFailureError) as ended:
        await run.result()
    assert isinstance(ended.value.cause, CancelledError)
    assert reached.is_set()
    assert (await run.describe()).status == WorkflowExecutionStatus.CANCELED


async def test_the_scheduled_time_is_that_of_the_occurrences_id(
    time: WorkflowEnvironment, client: Client, script: Script, name: str
) -> None:
    script.endings = [succeed]
    planned = (await time.get_current_time() - timedelta(hours=2)).replace(microsecond=0)
    run = await start(client, request("python", PLAY, job=name), name, planned.strftime("%Y-%m-%dT%H:%M:%SZ"))
    result = await run.result()
    assert datetime.fromisoformat(result.scheduled_at) == planned
    assert result.lateness == pytest.approx(2 * HOUR, abs=2)


async def test_an_own_workflow_is_a_child_of_the_run_and_its_result_the_output(
    client: Client, script: Script, name: str
) -> None:
    run = await start(client, request("workflow", {"type": "Child", "args": ["settle"]}, job=name), name)
    result = await run.result()
    assert result.outcome == "succeeded"
    assert result.steps[0].output == ["settle"]
    child = client.get_workflow_handle(f"{run.id}/run")
    assert (await child.describe()).status == WorkflowExecutionStatus.COMPLETED


async def test_arguments_of_an_own_workflow_know_the_times_of_the_job(
    client: Client, script: Script, name: str
) -> None:
    args = ["settle", "{scheduled_at:%F %H:%M}", "{interval_start:%F}", "{job}"]
    run = await start(client, request("workflow", {"type": "Child", "args": args}, job=name), name)
    result = await run.result()
    assert result.steps[0].output == ["settle", "2027-03-01 08:00", "2027-02-28", name]


async def test_arguments_without_templates_cost_no_local_activity(client: Client, script: Script, name: str) -> None:
    run = await start(client, request("workflow", {"type": "Child", "args": ["settle"]}, job=name), name)
    await run.result()
    kinds = [event.event_type async for event in run.fetch_history_events()]
    assert EventType.EVENT_TYPE_MARKER_RECORDED not in kinds


async def test_a_template_that_cannot_be_filled_in_fails_the_run(client: Client, script: Script, name: str) -> None:
    run = await start(client, request("workflow", {"type": "Child", "args": ["{nope}"]}, job=name), name)
    ended = await failure(run)
    assert ended.type == "failed"
    assert "nope" in ended.message


async def test_an_own_workflow_that_fails_fails_the_run_with_its_reason(
    client: Client, script: Script, name: str
) -> None:
    ended = await failure(await start(client, request("workflow", {"type": "Child", "args": ["fail"]}, job=name), name))
    assert (ended.type, ended.message) == ("failed", "step run: the books do not balance")


async def test_an_own_workflow_that_takes_too_long_times_the_run_out(client: Client, script: Script, name: str) -> None:
    what = request("workflow", {"type": "Child", "args": ["wait"]}, job=name, timeout=10 * HOUR)
    ended = await failure(await start(client, what, name))
    assert (ended.type, ended.result["outcome"]) == ("timed_out", "timed_out")
    assert ended.message.startswith("step run: the workflow `Child` did not end in time; an exception in its code")
    assert f"see {name}-2027-03-01T13:00:00Z/run" in ended.message
    assert ended.result["duration"] == pytest.approx(10 * HOUR, abs=5)


async def test_cancelling_a_run_cancels_its_own_workflow(client: Client, script: Script, name: str) -> None:
    run = await start(client, request("workflow", {"type": "Child", "args": ["wait"]}, job=name), name)
    child = client.get_workflow_handle(f"{run.id}/run")
    await until_started(child)
    await run.cancel()
    await until_closed(run)
    with pytest.raises(WorkflowFailureError) as ended:
        await run.result()
    assert isinstance(ended.value.cause, CancelledError)
    assert (await child.describe()).status == WorkflowExecutionStatus.CANCELED


async def test_what_a_handler_adds_to_a_failure_hides_no_fact_of_ours(
    client: Client, script: Script, name: str
) -> None:
    """Seen: the run stuck for ever at `int("first")`."""

    async def fail_oddly() -> None:
        raise HandlerError("bad", permanent=True, details={"attempt": "first", "handler": 3})

    script.endings = [fail_oddly]
    ended = await failure(await start(client, request("python", PLAY, job=name), name))
    assert (ended.type, ended.message, ended.result["attempts"]) == ("failed", "step run: bad", 1)


@pytest.mark.parametrize(
    ("what", "attempts", "reason", "known"),
    [
        ("fail-oddly", 1, "odd", 1),
        ("fail-oddly", 3, "odd", None),
        ("fail-at-length", 1, "x" * 100, 1),
    ],
)
async def test_a_failure_of_an_own_workflow_is_taken_as_it_is_and_nothing_made_up(
    what: str, attempts: int, reason: str, known: int | None, client: Client, script: Script, name: str
) -> None:
    run = await start(
        client, request("workflow", {"type": "Child", "args": [what]}, job=name, retry=retry(attempts)), name
    )
    ended = await failure(run)
    assert (ended.type, ended.result["attempts"]) == ("failed", known)
    assert ended.message.startswith(f"step run: {reason}")
    assert len(ended.message) < 3000


async def test_attempts_of_an_own_workflow_that_succeeds_later_are_not_guessed(
    client: Client, script: Script, name: str
) -> None:
    what = request("workflow", {"type": "Child", "args": ["fail-twice"]}, job=name, retry=retry(3))
    result = await (await start(client, what, name)).result()
    assert (result.outcome, result.attempts) == ("succeeded", None)


async def test_a_large_result_of_an_own_workflow_is_cut(client: Client, script: Script, name: str) -> None:
    what = request("workflow", {"type": "Child", "args": ["answer-at-length"]}, job=name)
    result = await (await start(client, what, name)).result()
    assert len(result.steps[0].output) < 66_000


async def test_what_nobody_thought_of_fails_the_run_and_does_not_hold_it(
    client: Client, script: Script, name: str
) -> None:
    ended = await failure(await start(client, request("workflow", {"args": []}, job=name), name))
    assert (ended.type, ended.message, ended.result["attempts"]) == ("failed", "step run: KeyError: 'type'", None)


async def until_started(run: WorkflowHandle[Any, Any]) -> None:
    """Waits until the server knows the run."""
    async with asyncio.timeout(60):
        while True:
            with suppress(RPCError):
                await run.describe()
                return
            await asyncio.sleep(0.02)


async def until_closed(run: WorkflowHandle[Any, Any]) -> None:
    """Waits for the run's end in real time; asking for its result would let hours pass at once."""
    async with asyncio.timeout(60):
        while (await run.describe()).status == WorkflowExecutionStatus.RUNNING:  # noqa: ASYNC110 - its event is at the server
            await asyncio.sleep(0.02)
