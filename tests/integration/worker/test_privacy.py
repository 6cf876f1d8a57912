"""What a real server stores of jobs whose payloads are encrypted, byte by byte, and that all else works as before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from signal import SIGTERM
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    DescribeScheduleRequest,
    DescribeWorkflowExecutionRequest,
    GetWorkflowExecutionHistoryRequest,
)
from temporalio.client import (
    Client,
    ScheduleActionExecutionStartWorkflow,
    WorkflowExecutionStatus,
    WorkflowHandle,
)

from activities.contract import JOB_WORKFLOW, JobRequest, JobResult, RetryRequest
from schedules.server.codec import data_converter
from schedules.server.codec_keys import KEYS, codec_keys
from tests.codec_texts import key_text
from tests.deploy import Deploy
from tests.integration.worker.dev.test_feed import feed, start_owned, until_shown
from tests.processes import worker
from tests.runs import current_details, failure, request, shell, start
from tests.servers import DevServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARK = "marker4711"
TWICE = RetryRequest(max_attempts=2, backoff="fixed", initial=1.0)


@dataclass(frozen=True)
class Place:
    """A worker with the marking handlers on the task queue `queue`, and a client with the same keys, or none."""

    server: DevServer
    queue: str
    client: Client
    keys: dict[str, str]

    async def history(self, workflow_id: str) -> bytes:
        """All of a run that the server stores, as it stores it."""
        plain = await Client.connect(self.server.address)
        execution = WorkflowExecution(workflow_id=workflow_id)
        history = await plain.workflow_service.get_workflow_execution_history(
            GetWorkflowExecutionHistoryRequest(namespace="default", execution=execution)
        )
        assert not history.next_page_token
        return history.SerializeToString() + await self.described(workflow_id)

    async def described(self, workflow_id: str) -> bytes:
        """What the server tells of a run now: pending activities with heartbeats and last failures, memo, summary."""
        plain = await Client.connect(self.server.address)
        ask = DescribeWorkflowExecutionRequest(
            namespace="default", execution=WorkflowExecution(workflow_id=workflow_id)
        )
        return (await plain.workflow_service.describe_workflow_execution(ask)).SerializeToString()

    async def start(self, what: JobRequest) -> WorkflowHandle[Any, JobResult]:
        """Under a job's name of its own."""
        return await start(self.client, replace(what, job=f"{self.queue}-{uuid4().hex[:6]}"), self.queue)

    def shows(self, stored: bytes, what: str) -> bool:
        return f"{MARK}{what}".encode() in stored


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["plain", "encrypted"])
async def place(
    server: DevServer, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AsyncIterator[Place]:
    """Without keys the same marks are to be found: the control."""
    name, keys = f"t{uuid4().hex[:10]}", {KEYS: key_text("k1")} if request.param == "encrypted" else {}
    client = await Client.connect(server.address, data_converter=data_converter(codec_keys(keys)))
    modules = {"task_queue": name, "modules": "tests.integration.private_jobs", "allow_commands": "true"}
    async with worker(server.address, cwd=tmp_path_factory.mktemp(name), **modules, **keys):
        yield Place(server, name, client, keys)


def marking(handler: str) -> dict[str, Any]:
    return {"handler": handler, "params": {"mark": MARK}}


async def test_neither_parameters_nor_output_nor_the_failure_of_an_attempt_is_readable(place: Place) -> None:
    what = request("python", marking("fails-then-answers"), retry=TWICE)
    run = await place.start(what)
    while f"{MARK}-error" not in str(await attempts(run)):
        pass
    waiting = await place.described(run.id)
    result = await run.result()
    assert (result.steps[0].output, result.attempts) == ({"answer": f"{MARK}-output"}, 2)
    stored = await place.history(run.id)
    found = [place.shows(waiting, "-error"), place.shows(waiting, "-evidence"), place.shows(waiting, "-heartbeat")]
    found += [place.shows(stored, ""), place.shows(stored, "-output")]
    assert found == [not place.keys] * 5


async def attempts(run: WorkflowHandle[Any, Any]) -> list[str]:
    """Messages of the attempts that have failed so far, as a client with the keys reads them."""
    raw = (await run.describe()).raw_description
    failures = [pending.last_failure for pending in raw.pending_activities if pending.HasField("last_failure")]
    return [str(await run._client.data_converter.decode_failure(each)) for each in failures]


async def test_neither_the_message_nor_the_stack_trace_of_a_failed_run_is_readable(place: Place) -> None:
    run = await place.start(request("python", marking("breaks")))
    ended = await failure(run)
    assert (ended.type, ended.result["outcome"]) == ("failed", "failed")
    assert f"RuntimeError: {MARK}-exception" in ended.message
    assert f"{MARK}-exception" in await current_details(run)
    stored = await place.history(run.id)
    found = [place.shows(stored, "-exception"), b"workflows/job.py" in stored]
    assert found == [not place.keys] * 2
    assert b"handler_failed" in stored, "types stay readable"


async def test_what_a_command_wrote_before_it_failed_is_not_readable(place: Place) -> None:
    what = request(params=shell(f"echo {MARK}-stderr >&2; exit 3"))
    run = await place.start(what)
    assert f"exit code 3: {MARK}-stderr" in (await failure(run)).message
    assert place.shows(await place.history(run.id), "") == (not place.keys)


@pytest.mark.parametrize("verb", ["answer", "fail"])
async def test_neither_arguments_nor_the_ending_of_a_child_is_readable(place: Place, verb: str) -> None:
    """Its arguments are filled in by a local activity, whose result is stored in a marker."""
    child = {"type": "PrivateChild", "args": [f"{MARK}-{{scheduled_at:%Y}}", verb]}
    run = await place.start(request("workflow", child))
    if verb == "fail":
        assert f"{MARK}-2027-child-error" in (await failure(run)).message
    else:
        assert (await run.result()).steps[0].output == f"{MARK}-2027-child-output"
    stored = await place.history(run.id) + await place.history(f"{run.id}/run")
    assert place.shows(stored, "") == (not place.keys)


async def test_the_last_heartbeat_of_a_step_that_timed_out_is_not_readable_and_the_outcome_is_right(
    place: Place,
) -> None:
    what = request("python", marking("hangs"), timeout=1.0)
    run = await place.start(what)
    ended = await failure(run)
    assert (ended.type, ended.message) == ("timed_out", "step run: timed out after 1 s")
    assert place.shows(await place.history(run.id), "") == (not place.keys)


async def test_ten_steps_of_maximal_output_are_cut_and_fail_no_run(place: Place) -> None:
    """An emoji takes twelve bytes as the SDK stores it: uncut, ten such outputs are 12 MB, and the server takes 2."""
    what = request("python", {"handler": "answers-at-length"})
    steps = [replace(what.steps[0], name=f"step-{number}") for number in range(10)]
    run = await place.start(replace(what, steps=steps))
    result = await run.result()
    assert result.outcome == "succeeded"
    assert len(result.steps) == 10
    assert all(step.output.endswith("😀… [cut, 100000 characters in all]") for step in result.steps)


async def test_what_a_schedule_carries_is_not_readable_nor_what_it_starts(place: Place, tmp_path: Path) -> None:
    deploy = Deploy(tmp_path, {**place.server.environ, **place.keys}, place.queue)
    deploy.job("tick", description=f"{MARK} summary", run={"command": ["echo", MARK]}, task_queue=place.queue)
    await deploy.sync()
    (schedule_id,) = deploy.jobs
    plain = await Client.connect(place.server.address)
    ask = DescribeScheduleRequest(namespace="default", schedule_id=schedule_id)
    stored = (await plain.workflow_service.describe_schedule(ask)).SerializeToString()
    assert place.shows(stored, " summary") == place.shows(stored, "") == (not place.keys)
    handle = place.client.get_schedule_handle(schedule_id)
    await handle.trigger()
    while not (actions := (await handle.describe()).info.recent_actions):
        pass
    started = actions[0].action
    assert isinstance(started, ScheduleActionExecutionStartWorkflow)
    workflow_id = started.workflow_id
    run = place.client.get_workflow_handle(workflow_id)
    await run.result()
    description = await run.describe()
    assert description.status == WorkflowExecutionStatus.COMPLETED
    assert await description.static_summary() == f"{MARK} summary"
    assert place.shows(await place.history(workflow_id), "") == (not place.keys)


async def test_the_feed_reads_with_the_key_and_says_which_one_it_lacks(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    keys, other = {KEYS: key_text("k1")}, {KEYS: key_text("k2")}
    with_key, without = [
        await Client.connect(server.address, data_converter=data_converter(codec_keys(each))) for each in (keys, other)
    ]
    owner = f"{name}/production"
    async with (
        worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true", **keys),
        feed(with_key, owner) as read,
        feed(without, owner) as unread,
    ):
        await start_owned(with_key, request(params=shell(f"echo {MARK} >&2; exit 3"), job=name), owner, 1)
        await until_shown(read, 1)
        await until_shown(unread, 1)
    assert (read[0].outcome, read[0].reason) == ("failed", f"step run: `/bin/sh` ended with exit code 3: {MARK}")
    assert unread[0].outcome == "failed"
    assert 'encrypted with the key "k1", which is not among the keys given (k2)' in unread[0].reason


async def test_a_run_waits_for_a_worker_that_has_its_key(server: DevServer, name: str, tmp_path: Path) -> None:
    keys = {KEYS: key_text("k1")}
    client = await Client.connect(server.address, data_converter=data_converter(codec_keys(keys)))
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as lacking:
        run = await client.start_workflow(
            JOB_WORKFLOW,
            request(job=name),
            id=f"{name}-2027-03-01T13:00:00Z",
            task_queue=name,
            result_type=JobResult,
            task_timeout=timedelta(seconds=1),
        )
        said = await lacking.until(lambda: [line for line in lacking.err if '"k1\\' in line], "no word about the key")
        assert "is encrypted with the key" in said[0]
        assert (await run.describe()).status == WorkflowExecutionStatus.RUNNING
        lacking.signal(SIGTERM)
        assert await lacking.wait() == 0
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true", **keys):
        assert (await run.result()).outcome == "succeeded"
