"""The activities under a real worker and server: what is decoded, retried and stored."""

from __future__ import annotations

import uuid
from datetime import timedelta
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from pydantic import BaseModel
from temporalio import workflow
from temporalio.client import WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities import HandlerError, JobContext, handler
from activities.contract import RENDER_ARGUMENTS, RUN_STEP, RetryRequest, StepCall, StepResult
from tests.servers import TEST_SERVER
from tests.step_calls import bench, step_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio


@workflow.defn(sandboxed=False)
class OneStep:
    """Runs one step as the job's workflow does."""

    @workflow.run
    async def run(self, call: StepCall) -> StepResult:
        result: StepResult = await workflow.execute_activity(
            RUN_STEP,
            call,
            result_type=StepResult,
            start_to_close_timeout=timedelta(seconds=call.step.timeout + 15),
            heartbeat_timeout=timedelta(seconds=call.step.heartbeat_timeout),
            retry_policy=RetryPolicy(maximum_attempts=call.step.retry.max_attempts),
        )
        return result


@workflow.defn(sandboxed=False)
class Rendered:
    """Renders arguments as the job's workflow does."""

    @workflow.run
    async def run(self, call: StepCall) -> list[Any]:
        args: list[Any] = await workflow.execute_activity(
            RENDER_ARGUMENTS, call, result_type=list[Any], start_to_close_timeout=timedelta(seconds=10)
        )
        return args


class Params(BaseModel):
    """Of the handlers here."""

    token: str = ""


@handler
def flaky(params: Params, context: JobContext) -> dict[str, Any]:
    context.heartbeat({"token": params.token})
    if context.attempt < 3:
        raise HandlerError(f"no luck with {params.token}")
    return {"last": context.last_heartbeat, "token": params.token}


def jobs() -> ModuleType:
    made = ModuleType("jobs")
    vars(made)["flaky"] = flaky
    return made


@pytest_asyncio.fixture
async def server() -> AsyncIterator[WorkflowEnvironment]:
    path = str(TEST_SERVER)
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=path) as environment:
        yield environment


def call_of(name: str, params: dict[str, Any] | None = None, heartbeat_timeout: float = 60) -> StepCall:
    retry = RetryRequest(max_attempts=3, backoff="exponential", initial=3600, max=7200)
    given = {"handler": name, "params": params or {}}
    return step_call("python", given, retry=retry, heartbeat_timeout=heartbeat_timeout)


async def test_retries_over_hours_and_no_secret_in_the_history(server: WorkflowEnvironment) -> None:
    async with bench(jobs(), secrets={"TOKEN": "s3same-0pen"}) as made:
        queue = str(uuid.uuid4())
        async with Worker(
            server.client, task_queue=queue, workflows=[OneStep, Rendered], activities=made.activities.activities
        ):
            call = call_of("flaky", {"token": "${secret:TOKEN}"})
            handle = await server.client.start_workflow(OneStep.run, call, id=queue, task_queue=queue)
            result = await handle.result()
            history = await handle.fetch_history()
            args = {"type": "Report", "args": ["{scheduled_at:%F}", 3]}
            rendered = await server.client.execute_workflow(
                Rendered.run, step_call("workflow", args), id=f"{queue}-args", task_queue=queue
            )
    assert result == StepResult(
        "run", {"last": {"token": None}, "token": "***"}, 3, result.duration, altered=result.altered
    )
    assert [place.path for place in result.altered] == [["token"]]
    waited = history.events[-1].event_time.ToDatetime() - history.events[0].event_time.ToDatetime()
    assert timedelta(hours=3) <= waited < timedelta(hours=3, minutes=5)
    assert "s3same" not in history.to_json()
    assert rendered == ["2027-03-01", 3]


async def test_permanent_failure_ends_the_attempts(server: WorkflowEnvironment) -> None:
    async with bench(jobs()) as made:
        queue = str(uuid.uuid4())
        async with Worker(server.client, task_queue=queue, workflows=[OneStep], activities=made.activities.activities):
            with pytest.raises(WorkflowFailureError) as failure:
                await server.client.execute_workflow(OneStep.run, call_of("flakey"), id=queue, task_queue=queue)
    assert isinstance(failure.value.cause, ActivityError)
    cause = failure.value.cause.cause
    assert isinstance(cause, ApplicationError)
    assert (cause.type, cause.non_retryable) == ("handler_failed", True)
    assert "did you mean `flaky`" in cause.message
    assert cause.details[0]["attempt"] == 1
