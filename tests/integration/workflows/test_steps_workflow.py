"""Jobs of several steps on the time-skipping server: order, failures, cancellation, compensation and limits."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import pytest_asyncio
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities import JobContext
from activities.contract import OFFERED_ELSEWHERE, Handover, JobResult, LastSuccess, RetryRequest, StepRequest
from tests.child_workflow import Child
from tests.runs import SCHEDULED_AT, current_details, failure, start
from tests.servers import TEST_SERVER
from tests.step_calls import bench
from tests.steps_of import HOUR, Script, a_job, a_step, fail, fail_for_good, give, hang, tries
from workflows.job import JobWorkflow
from workflows.unknown import UnknownWorkflow

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def time() -> AsyncIterator[WorkflowEnvironment]:
    """A server whose time passes at once when nothing runs and somebody waits."""
    environment = await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER))
    async with environment:
        yield environment


@activity.defn(name=OFFERED_ELSEWHERE)
async def offered_nowhere(_workflow_type: str) -> bool:
    """There is no other worker."""
    return False


@pytest_asyncio.fixture(loop_scope="module")
async def script(time: WorkflowEnvironment, name: str) -> AsyncIterator[Script]:
    """A worker on the task queue `name` whose handler `play` follows the script."""
    script = Script()
    async with (
        bench(script.module()) as parts,
        Worker(
            time.client,
            task_queue=name,
            workflows=[JobWorkflow, Child, UnknownWorkflow],
            activities=[*parts.activities.activities, offered_nowhere],
            max_heartbeat_throttle_interval=timedelta(seconds=0.1),
        ),
    ):
        yield script


@pytest.fixture
def client(time: WorkflowEnvironment) -> Client:
    return time.client


def listed(result: dict[str, Any]) -> dict[str, str]:
    """The steps of a result by outcome."""
    return {step["name"]: step["outcome"] for step in result["steps"]}


def undone(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step["name"], step["outcome"]) for step in result["compensations"]]


async def until_closed(run: WorkflowHandle[Any, Any]) -> WorkflowExecutionStatus | None:
    """Waits for the run's end in real time; asking for its result would let hours pass at once."""
    async with asyncio.timeout(60):
        while (status := (await run.describe()).status) == WorkflowExecutionStatus.RUNNING:  # noqa: ASYNC110 - its event is at the server
            await asyncio.sleep(0.02)
        return status


async def test_steps_run_one_after_the_other_and_hand_their_outputs_on(
    client: Client, script: Script, name: str
) -> None:
    script.acts["export"] = [give({"rows": 3, "files": ["a", "b"]})]
    what = a_job(
        name,
        a_step("export"),
        a_step("post", {"rows": "{steps.export.output.rows}", "first": "file {steps.export.output.files.0}"}),
        a_step("tell", "{steps.post.output}"),
    )
    result = await (await start(client, what, name)).result()
    assert (result.outcome, [step.name for step in result.steps]) == ("succeeded", ["export", "post", "tell"])
    assert script.told["post"] == {"rows": 3, "first": "file a"}
    assert script.told["tell"] == {"by": "post"}
    assert script.began == ["export", "post", "tell"]
    assert result.last_success == LastSuccess(SCHEDULED_AT, {step.name: step.output for step in result.steps})


async def test_steps_that_need_nothing_of_each_other_run_side_by_side(
    client: Client, script: Script, name: str
) -> None:
    """Each of two waits until the other has begun."""
    meeting = asyncio.Barrier(2)

    async def meet(_context: JobContext) -> None:
        await meeting.wait()

    script.acts |= {"b": [meet], "c": [meet]}
    steps = [
        a_step("last", needs=["b", "c"]),
        a_step("b", needs=["first"]),
        a_step("c", needs=["first"]),
        a_step("first", needs=[]),
    ]
    result = await (await start(client, a_job(name, *steps), name)).result()
    assert [step.name for step in result.steps] == ["last", "b", "c", "first"], "the spec's order"
    assert (script.began[0], script.began[-1]) == ("first", "last")


async def test_a_failure_skips_what_comes_after_and_undoes_what_succeeded_last_first(
    client: Client, script: Script, name: str
) -> None:
    script.acts["post"] = [fail]
    what = a_job(
        name,
        a_step("export", undo=True),
        a_step("reserve", undo=True),
        a_step("post", undo=True),
        a_step("audit", undo=True),
        a_step("tell", when="on_failure"),
        a_step("tidy", when="always"),
    )
    ended = await failure(await start(client, what, name))
    assert (ended.type, ended.message) == ("failed", "step post: post is broken")
    assert script.began == ["export", "reserve", "post", "tell", "tidy", "reserve/undo", "export/undo"]
    assert listed(ended.result) == {
        "export": "succeeded",
        "reserve": "succeeded",
        "post": "failed",
        "audit": "skipped",
        "tell": "succeeded",
        "tidy": "succeeded",
    }
    assert [step["reason"] for step in ended.result["steps"][2:4]] == ["post is broken", "step post failed"]
    assert undone(ended.result) == [("reserve/undo", "succeeded"), ("export/undo", "succeeded")]
    assert (ended.result["attempts"], ended.result["last_success"]) == (5, None)


async def test_steps_for_failures_are_skipped_where_none_failed_and_nothing_is_undone(
    client: Client, script: Script, name: str
) -> None:
    what = a_job(name, a_step("post", undo=True), a_step("tell", when="on_failure"), a_step("tidy"))
    result = await (await start(client, what, name)).result()
    assert [(step.name, step.outcome, step.reason) for step in result.steps] == [
        ("post", "succeeded", ""),
        ("tell", "skipped", "no step before it failed"),
        ("tidy", "succeeded", ""),
    ]
    assert (result.outcome, result.compensations) == ("succeeded", [])


async def test_what_runs_beside_a_failure_goes_on_and_is_undone_too(client: Client, script: Script, name: str) -> None:
    failed = asyncio.Event()

    async def fail_first(context: JobContext) -> None:
        failed.set()
        await fail(context)

    async def end_later(_context: JobContext) -> None:
        await failed.wait()
        await asyncio.sleep(0.2)

    script.acts |= {"a": [fail_first], "b": [end_later]}
    what = a_job(name, a_step("a", needs=[]), a_step("b", needs=[], undo=True), a_step("c", needs=["b"], undo=True))
    ended = await failure(await start(client, what, name))
    assert ended.message == "step a: a is broken"
    assert listed(ended.result) == {"a": "failed", "b": "succeeded", "c": "succeeded"}
    assert undone(ended.result) == [("c/undo", "succeeded"), ("b/undo", "succeeded")]


async def test_the_first_of_two_failures_names_the_outcome(client: Client, script: Script, name: str) -> None:
    script.acts |= {"a": [hang], "tidy": [fail]}
    what = a_job(name, a_step("a", timeout=0.1), a_step("tidy", when="always"))
    ended = await failure(await start(client, what, name))
    assert (ended.type, ended.message) == ("timed_out", "step a: timed out after 0.1 s")


async def test_a_step_is_tried_again_on_its_own_terms(client: Client, script: Script, name: str) -> None:
    script.acts |= {"a": [fail, fail, give("a")], "b": [fail, give("b")]}
    what = a_job(name, a_step("a", retry=tries(3, HOUR)), a_step("b", retry=tries(2, 2 * HOUR)))
    result = await (await start(client, what, name)).result()
    assert [step.attempts for step in result.steps] == [3, 2]
    assert waits(script, "a") == pytest.approx([HOUR, HOUR], abs=1)
    assert waits(script, "b") == pytest.approx([2 * HOUR], abs=1)
    assert result.attempts == 5


def waits(script: Script, step: str) -> list[float]:
    return [(later - earlier).total_seconds() for earlier, later in pairwise(script.times[step])]


async def test_a_compensation_knows_the_outputs_and_has_a_key_of_its_own(
    client: Client, script: Script, name: str
) -> None:
    script.acts |= {"export": [give([7])], "post": [give({"id": "p-1"})], "audit": [fail]}
    undo = a_step("post/undo", ["{steps.post.output.id}", "{steps.export.output.0}"])
    what = a_job(name, a_step("export"), a_step("post", undo=undo), a_step("audit"))
    ended = await failure(await start(client, what, name))
    assert undone(ended.result) == [("post/undo", "succeeded")]
    assert script.told["post/undo"] == ["p-1", 7]
    assert script.contexts["post"].idempotency_key == f"billing/production/{name}/{SCHEDULED_AT}/post"
    assert script.contexts["post/undo"].idempotency_key == f"billing/production/{name}/{SCHEDULED_AT}/post%2Fundo"


async def test_a_compensation_is_tried_again_for_as_long_as_its_own_attempts_last(
    client: Client, script: Script, name: str
) -> None:
    """Beyond the run's deadline, too."""
    script.acts |= {"post/undo": [fail, fail, give("done")], "audit": [fail]}
    undo = a_step("post/undo", retry=RetryRequest(max_attempts=3, initial=HOUR, max=9 * HOUR))
    ended = await failure(
        await start(client, a_job(name, a_step("post", undo=undo), a_step("audit"), deadline=60.0), name)
    )
    assert (ended.type, ended.message) == ("failed", "step audit: audit is broken")
    assert waits(script, "post/undo") == pytest.approx([HOUR, 2 * HOUR], abs=1)
    assert ended.result["compensations"][0]["attempts"] == 3


async def test_a_compensation_that_fails_is_an_outcome_of_its_own_and_the_others_are_still_tried(
    client: Client, script: Script, name: str
) -> None:
    script.acts |= {"b/undo": [fail], "c/undo": [fail_for_good], "d": [fail]}
    steps = [
        a_step("a", undo=True),
        a_step("b", undo=a_step("b/undo", retry=tries(2))),
        a_step("c", undo=a_step("c/undo", retry=tries(9))),
        a_step("d"),
    ]
    run = await start(client, a_job(name, *steps), name)
    ended = await failure(run)
    assert ended.type == ended.result["outcome"] == "compensation_failed"
    assert ended.message == (
        "step c/undo: c/undo is broken for good; step b/undo: b/undo is broken; before that, step d: d is broken"
    )
    assert undone(ended.result) == [("c/undo", "failed"), ("b/undo", "failed"), ("a/undo", "succeeded")]
    assert [script.began.count(f"{each}/undo") for each in "cba"] == [1, 2, 1]
    assert await current_details(run) == f"compensation_failed: {ended.message}"


async def test_a_cancelled_run_stops_its_steps_tidies_up_and_undoes_what_was_done_or_stopped(
    client: Client, script: Script, name: str
) -> None:
    script.acts["post"] = [hang]
    steps = [
        a_step("export", undo=True),
        a_step("post", undo=True),
        a_step("audit", undo=True),
        a_step("tell", when="on_failure"),
        a_step("tidy", when="always"),
    ]
    run = await start(client, a_job(name, *steps), name)
    await script.until_begun("post")
    await run.cancel()
    assert await until_closed(run) == WorkflowExecutionStatus.CANCELED
    assert script.began == ["export", "post", "tidy", "post/undo", "export/undo"]
    assert script.ended.index("post") < script.ended.index("tidy")
    assert await current_details(run) == "cancelled: cancelled on request; done: post/undo, export/undo"


async def test_a_second_cancellation_does_not_end_a_compensation(client: Client, script: Script, name: str) -> None:
    go_on = asyncio.Event()

    async def wait_for_it(_context: JobContext) -> None:
        await go_on.wait()

    script.acts |= {"post": [hang], "export/undo": [wait_for_it]}
    run = await start(client, a_job(name, a_step("export", undo=True), a_step("post")), name)
    await script.until_begun("post")
    await run.cancel()
    await script.until_begun("export/undo")
    with suppress(RPCError):  # A server may refuse what it was asked before.
        await run.cancel()
    await asyncio.sleep(0.5)  # Longer than a heartbeat takes to tell an attempt that it is to end.
    assert "export/undo" not in script.ended
    go_on.set()
    assert await until_closed(run) == WorkflowExecutionStatus.CANCELED
    assert script.began.count("export/undo") == 1


async def test_a_failed_run_that_is_cancelled_while_it_compensates_does_so_to_the_end(
    client: Client, script: Script, name: str
) -> None:
    go_on = asyncio.Event()

    async def wait_for_it(_context: JobContext) -> None:
        await go_on.wait()

    script.acts |= {"c": [fail], "b/undo": [wait_for_it]}
    run = await start(client, a_job(name, a_step("a", undo=True), a_step("b", undo=True), a_step("c")), name)
    await script.until_begun("b/undo")
    await run.cancel()
    await until_count(run, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED, 1)
    await asyncio.sleep(0.5)  # as above
    assert "b/undo" not in script.ended
    go_on.set()
    await until_closed(run)
    ended = await failure(run)
    assert ended.message == "step c: c is broken"
    assert undone(ended.result) == [("b/undo", "succeeded"), ("a/undo", "succeeded")]


async def test_a_cancelled_run_whose_compensation_fails_fails(client: Client, script: Script, name: str) -> None:
    script.acts |= {"post": [hang], "export/undo": [fail]}
    run = await start(client, a_job(name, a_step("export", undo=True), a_step("post")), name)
    await script.until_begun("post")
    await run.cancel()
    assert await until_closed(run) == WorkflowExecutionStatus.FAILED
    ended = await failure(run)
    assert ended.type == "compensation_failed"
    assert ended.message == "step export/undo: export/undo is broken; before that, cancelled on request"


async def test_a_step_that_fails_after_a_cancellation_leaves_the_run_cancelled_and_is_told(
    client: Client, script: Script, name: str
) -> None:
    script.acts |= {"post": [hang], "tidy": [fail]}
    run = await start(client, a_job(name, a_step("post", undo=True), a_step("tidy", when="always")), name)
    await script.until_begun("post")
    await run.cancel()
    assert await until_closed(run) == WorkflowExecutionStatus.CANCELED
    assert await current_details(run) == "cancelled: cancelled on request; step tidy: tidy is broken; done: post/undo"


async def test_a_stopped_step_is_not_undone_by_what_needs_its_output_and_the_run_says_so(
    client: Client, script: Script, name: str
) -> None:
    script.acts["post"] = [hang]
    run = await start(client, a_job(name, a_step("post", undo=a_step("post/undo", "{steps.post.output.id}"))), name)
    await script.until_begun("post")
    await run.cancel()
    assert await until_closed(run) == WorkflowExecutionStatus.CANCELED
    assert script.began == ["post"]
    assert "post/undo did not run: step post was stopped before it had the output" in await current_details(run)


async def test_steps_that_tidy_up_are_not_stopped_by_a_cancellation(client: Client, script: Script, name: str) -> None:
    go_on = asyncio.Event()

    async def wait_for_it(_context: JobContext) -> None:
        await go_on.wait()

    script.acts |= {"post": [fail], "tidy": [wait_for_it]}
    run = await start(
        client, a_job(name, a_step("export", undo=True), a_step("post"), a_step("tidy", when="always")), name
    )
    await script.until_begun("tidy")
    await run.cancel()
    await asyncio.sleep(0.5)  # as above
    go_on.set()
    await until_closed(run)
    ended = await failure(run)
    assert ended.message == "step post: post is broken", "it had failed before it was cancelled"
    assert listed(ended.result) == {"export": "succeeded", "post": "failed", "tidy": "succeeded"}
    assert undone(ended.result) == [("export/undo", "succeeded")]


async def test_a_run_that_had_done_all_when_it_was_cancelled_has_succeeded(
    client: Client, script: Script, name: str
) -> None:
    go_on = asyncio.Event()

    async def wait_for_it(_context: JobContext) -> str:
        await go_on.wait()
        return "tidy"

    script.acts["tidy"] = [wait_for_it]
    run = await start(client, a_job(name, a_step("post", undo=True), a_step("tidy", when="always")), name)
    await script.until_begun("tidy")
    await run.cancel()
    go_on.set()
    assert await until_closed(run) == WorkflowExecutionStatus.COMPLETED
    assert script.began == ["post", "tidy"]


async def test_a_run_cancelled_between_attempts_undoes_what_was_done(client: Client, script: Script, name: str) -> None:
    script.acts["post"] = [fail]
    run = await start(client, a_job(name, a_step("export", undo=True), a_step("post", retry=tries(9))), name)
    await script.until_begun("post")
    await run.cancel()
    assert await until_closed(run) == WorkflowExecutionStatus.CANCELED
    assert script.began == ["export", "post", "export/undo"]


async def test_the_deadline_bounds_all_steps_together_and_those_that_tidy_up_get_one_attempt(
    client: Client, script: Script, name: str
) -> None:
    """`a` takes 2 h, `b` waits from there on for attempts that would come after 3 h."""
    script.acts |= {"a": [fail, fail, give("a")], "b": [fail], "tell": [fail]}
    what = a_job(
        name,
        a_step("a", retry=tries(3), undo=True),
        a_step("b", retry=tries(9)),
        a_step("c"),
        a_step("tell", when="on_failure", retry=tries(9)),
        a_step("tidy", when="always"),
        deadline=2.5 * HOUR,
    )
    ended = await failure(await start(client, what, name))
    assert (ended.type, ended.result["outcome"]) == ("timed_out", "timed_out")
    assert ended.message.startswith("step b: the deadline leaves no time for another attempt")
    assert script.began == ["a", "a", "a", "b", "tell", "tidy", "a/undo"]
    assert listed(ended.result) == {
        "a": "succeeded",
        "b": "timed_out",
        "c": "skipped",
        "tell": "timed_out",
        "tidy": "succeeded",
    }
    assert ended.result["duration"] <= 2.5 * HOUR + 60


async def test_a_hung_step_does_not_outlast_the_deadline_and_somebody_is_still_told(
    client: Client, script: Script, name: str
) -> None:
    script.acts["b"] = [hang]
    steps = [a_step("a", undo=True), a_step("b", timeout=HOUR), a_step("c"), a_step("tell", when="on_failure")]
    ended = await failure(await start(client, a_job(name, *steps, deadline=1.0), name))
    assert ended.type == "timed_out"
    assert listed(ended.result) == {"a": "succeeded", "b": "timed_out", "c": "skipped", "tell": "succeeded"}
    assert undone(ended.result) == [("a/undo", "succeeded")]
    assert ended.result["duration"] < 60


async def test_a_step_that_no_worker_takes_in_time_has_timed_out(client: Client, script: Script, name: str) -> None:
    steps = [a_step("a", undo=True), a_step("b", task_queue=f"{name}-away", start_timeout=1.0, retry=tries(3))]
    ended = await failure(await start(client, a_job(name, *steps), name))
    assert ended.type == "timed_out"
    assert ended.message == (f"step b: no worker took it within 1 s; is one running for the task queue `{name}-away`?")
    assert 1 <= ended.result["duration"] < 60
    assert undone(ended.result) == [("a/undo", "succeeded")]


async def test_a_compensation_that_no_worker_takes_in_time_has_failed_loudly(
    client: Client, script: Script, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a second: the server skips no time while a task waits for a worker."""
    monkeypatch.setattr("workflows.compensate.LONGEST_WAIT", 1.0)
    script.acts["b"] = [fail]
    steps = [a_step("a", undo=a_step("a/undo", task_queue=f"{name}-away")), a_step("b")]
    ended = await failure(await start(client, a_job(name, *steps), name))
    assert ended.type == "compensation_failed"
    assert "step a/undo: no worker took it within 1 s" in ended.message


async def test_a_step_runs_on_the_task_queue_that_it_names(
    time: WorkflowEnvironment, client: Client, script: Script, name: str
) -> None:
    other = Script()
    async with (
        bench(other.module()) as parts,
        Worker(client, task_queue=f"{name}-big", activities=parts.activities.activities),
    ):
        steps = [a_step("a", undo=a_step("a/undo", task_queue=f"{name}-big")), a_step("b", task_queue=f"{name}-big")]
        other.acts["b"] = [fail]
        await failure(await start(client, a_job(name, *steps), name))
    assert (script.began, other.began) == (["a"], ["b", "a/undo"])


class RowGoneError(LookupError):
    """An error of a user's."""


async def raise_row_gone(_context: JobContext) -> None:
    raise RowGoneError("row 7")


@pytest.mark.parametrize(
    ("permanent", "attempts"),
    [
        (["LookupError"], 1),
        (["RowGoneError"], 1),
        ([f"{__name__}.RowGoneError"], 1),
        (["builtins.Exception"], 1),
        (["KeyError", "ValueError"], 3),
        ([], 3),
    ],
)
async def test_errors_whose_type_is_permanent_are_not_tried_again(
    permanent: list[str], attempts: int, client: Client, script: Script, name: str
) -> None:
    script.acts["run"] = [raise_row_gone]
    retry = RetryRequest(max_attempts=3, backoff="fixed", initial=1.0, permanent=permanent)
    ended = await failure(await start(client, a_job(name, a_step("run", retry=retry)), name))
    assert (ended.result["attempts"], len(script.began)) == (attempts, attempts)
    assert ended.message.endswith("RowGoneError: row 7")


@pytest.mark.parametrize(("permanent", "attempts"), [(["Unbalanced"], 1), (["Other"], 2)])
async def test_error_types_of_an_own_workflow_can_be_permanent(
    permanent: list[str], attempts: int, client: Client, script: Script, name: str
) -> None:
    retry = RetryRequest(max_attempts=2, backoff="fixed", initial=HOUR, permanent=permanent)
    child = StepRequest("run", "workflow", {"type": "Child", "args": ["fail"]}, 30.0, 30.0, retry)
    ended = await failure(await start(client, a_job(name, child), name))
    assert ended.result["duration"] == pytest.approx((attempts - 1) * HOUR, abs=5)


async def test_an_output_that_is_not_there_fails_the_step_for_good(client: Client, script: Script, name: str) -> None:
    steps = [a_step("a", undo=True), a_step("b", "{steps.a.output.id}", retry=tries(9))]
    ended = await failure(await start(client, a_job(name, *steps), name))
    assert ended.message == "step b: `{steps.a.output.id}`: `steps.a.output` has no `id`; its keys are: by"
    assert script.began == ["a", "a/undo"]


async def test_a_step_that_failed_has_no_output_for_those_after_it(client: Client, script: Script, name: str) -> None:
    script.acts["post"] = [fail]
    steps = [a_step("post"), a_step("tell", "{steps.post.output.id}", when="on_failure")]
    ended = await failure(await start(client, a_job(name, *steps), name))
    assert ended.message == "step post: post is broken"
    assert ended.result["steps"][1]["reason"] == (
        "`{steps.post.output.id}`: the step `post` has no output, because it did not succeed"
    )


async def test_steps_that_can_never_start_fail_the_run_and_do_not_hold_it(
    client: Client, script: Script, name: str
) -> None:
    """No spec leads to this, and anybody can start a workflow."""
    steps = [
        a_step("a", needs=[], undo=True),
        a_step("b", needs=["c"]),
        a_step("c", needs=["b"]),
        a_step("d", needs=["nowhere"]),
    ]
    ended = await failure(await start(client, a_job(name, *steps), name))
    assert ended.type == "failed"
    assert ended.message == "steps that wait for each other, or for none that there is: b, c, d"
    assert undone(ended.result) == [("a/undo", "succeeded")]


async def test_the_failure_of_a_run_has_the_failure_of_its_step_as_its_cause(
    client: Client, script: Script, name: str
) -> None:
    script.acts["post"] = [fail]
    with pytest.raises(WorkflowFailureError) as ended:
        await (await start(client, a_job(name, a_step("post"), a_step("tidy", when="always")), name)).result()
    assert isinstance(ended.value.cause, ApplicationError)
    assert isinstance(ended.value.cause.cause, ActivityError)


async def test_own_workflows_take_part_in_the_order_and_undo(client: Client, script: Script, name: str) -> None:
    def child(step: str, *args: str, **fields: Any) -> StepRequest:
        return StepRequest(step, "workflow", {"type": "Child", "args": list(args)}, 30.0, 30.0, **fields)

    script.acts["c"] = [fail]
    undo = child("b/undo", "{steps.b.output.0}")
    run = await start(
        client, a_job(name, a_step("a"), child("b", "{steps.a.output.by}", compensate=undo), a_step("c")), name
    )
    ended = await failure(run)
    assert ended.result["steps"][1]["output"] == ["a"]
    assert undone(ended.result) == [("b/undo", "succeeded")]
    assert ended.result["compensations"][0]["output"] == ["a"]
    described = await client.get_workflow_handle(f"{run.id}/b/undo").describe()
    assert described.status == WorkflowExecutionStatus.COMPLETED


async def test_a_compensation_of_an_unknown_workflow_type_fails_at_once(
    client: Client, script: Script, name: str
) -> None:
    script.acts["b"] = [fail]
    undo = StepRequest("a/undo", "workflow", {"type": "Chlid"}, 600.0, 30.0, tries(9))
    ended = await failure(await start(client, a_job(name, a_step("a", undo=undo), a_step("b")), name))
    assert ended.type == "compensation_failed"
    assert ended.message.startswith("step a/undo: no workflow type `Chlid` on this worker")


async def test_a_running_job_says_how_far_it_is(client: Client, script: Script, name: str) -> None:
    go_on = asyncio.Event()

    async def wait_for_it(_context: JobContext) -> None:
        await go_on.wait()

    script.acts |= {"post": [wait_for_it], "audit": [wait_for_it]}
    steps = [
        a_step("export", needs=[]),
        a_step("post", needs=["export"]),
        a_step("audit", needs=["export"]),
        a_step("tell", needs=["post", "audit"]),
    ]
    run = await start(client, a_job(name, *steps), name)
    await script.until_begun("post", "audit")
    assert await current_details(run) == "1 of 4, running: post, audit"
    go_on.set()
    await run.result()


async def test_steps_are_told_of_the_last_success(client: Client, script: Script, name: str) -> None:
    known = LastSuccess("2027-02-24T13:00:00Z", {"export": {"up_to": 41}})
    what = a_job(name, a_step("a", "{last_success:%F %H:%M}"), handover=Handover("x", known))
    result = await (await start(client, what, name)).result()
    told = script.contexts["a"].last_success
    assert script.told["a"] == "2027-02-24 08:00"
    assert told is not None
    assert (told.scheduled_at.isoformat(), told.outputs) == ("2027-02-24T08:00:00-05:00", known.outputs)
    assert result.last_success == LastSuccess(SCHEDULED_AT, {"a": {"by": "a"}})


@pytest.mark.parametrize("handover", [None, Handover("x", LastSuccess("2027-03-09T13:00:00Z", {}))])
async def test_the_interval_stands_for_a_success_that_never_was_or_that_came_later(
    handover: Handover | None, client: Client, script: Script, name: str
) -> None:
    """The second is what a backfill of an older time is given."""
    what = a_job(name, a_step("a", "{last_success:%F}"), handover=handover)
    result: JobResult = await (await start(client, what, name)).result()
    assert (script.told["a"], script.contexts["a"].last_success) == ("2027-02-28", None)
    newest = handover.last_success if handover else LastSuccess(SCHEDULED_AT, {"a": {"by": "a"}})
    assert result.last_success == newest


@pytest.mark.parametrize("letter", ["x", "\u4e2d", "\U0001f600"], ids=["ascii", "chinese", "emoji"])
async def test_large_outputs_of_many_steps_are_cut_and_the_run_succeeds(
    letter: str, client: Client, script: Script, name: str
) -> None:
    """Whole, they would be more than the server takes (2 MB)."""
    names = [f"s{number}" for number in range(40)]
    script.acts |= {each: [give(letter * 65_000)] for each in names}
    every = [f"{{steps.{each}.output}}" for each in names]
    result = await (await start(client, a_job(name, *map(a_step, names), a_step("all", every)), name)).result()
    assert result.outcome == "succeeded"
    assert len(json.dumps(script.told["all"])) < 600_000
    assert result.last_success is not None
    assert len(json.dumps(result.last_success.outputs)) < 75_000


async def test_a_step_that_is_cancelled_by_itself_has_failed(client: Client, script: Script, name: str) -> None:
    wait = StepRequest("b", "workflow", {"type": "Child", "args": ["wait"]}, 30 * HOUR, 30.0)
    run = await start(client, a_job(name, a_step("a", undo=True), wait), name)
    await script.until_begun("a")
    child = client.get_workflow_handle(f"{run.id}/b")
    async with asyncio.timeout(60):
        while True:
            with suppress(RPCError):
                await child.cancel()
                break
            await asyncio.sleep(0.02)
    ended = await failure(run)
    assert ended.message == "step b: it was cancelled by itself, and the run was not"
    assert undone(ended.result) == [("a/undo", "succeeded")]


async def test_a_step_whose_worker_stops_after_the_run_was_cancelled_is_not_made_again(
    client: Client, name: str
) -> None:
    """Its heartbeats are so far apart that it would not learn of the cancellation itself."""
    script = Script({"post": [hang]})
    steps = [a_step("export", undo=True), a_step("post", undo=True, heartbeat_timeout=600.0)]
    async with a_worker(client, name, script):
        run = await start(client, a_job(name, *steps), name)
        await script.until_begun("post")
        await run.cancel()
        await until_count(run, EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED, 1)
    async with a_worker(client, name, script):
        assert await until_closed(run) == WorkflowExecutionStatus.CANCELED
    assert script.began == ["export", "post", "post/undo", "export/undo"]


@asynccontextmanager
async def a_worker(client: Client, name: str, script: Script) -> AsyncIterator[None]:
    """A worker that drains at once when the block ends."""
    async with (
        bench(script.module()) as parts,
        Worker(
            client,
            task_queue=name,
            workflows=[JobWorkflow],
            activities=parts.activities.activities,
            max_cached_workflows=0,  # or the server would wait for it before it asks another
        ),
    ):
        yield


async def test_a_run_that_leaves_a_workers_memory_at_any_moment_goes_on_in_silence(
    client: Client, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """`a_worker` keeps no run in memory: each is put away after each of its tasks, with steps and compensations under way."""
    script = Script({"b": [fail], "c": [hang]})
    steps = [
        a_step("a", needs=[], undo=True),
        a_step("b", needs=["a"]),
        a_step("c", needs=["a"], undo=True),
        a_step("d", needs=["a"], undo=True),
        a_step("tell", needs=["b"], when="on_failure"),
        a_step("tidy", needs=["c", "d"], when="always"),
    ]
    async with a_worker(client, name, script):
        run = await start(client, a_job(name, *steps), name)
        await script.until_begun("c", "tell")
        await until_count(run, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, 3)
        await run.cancel()
        await until_closed(run)
        ended = await failure(run)
    assert ended.message == "step b: b is broken"
    assert undone(ended.result) == [("c/undo", "succeeded"), ("d/undo", "succeeded"), ("a/undo", "succeeded")]
    gc.collect()
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    usual = ("Completing activity as failed", "{", "Temporal Server 1.16.0 or newer")
    assert [line for line in said if not line.startswith(usual)] == []


async def until_count(run: WorkflowHandle[Any, Any], kind: EventType.ValueType, count: int) -> None:
    """Waits until the run's history has so many events of the kind."""
    async with asyncio.timeout(60):
        while [event.event_type async for event in run.fetch_history_events()].count(kind) < count:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)
