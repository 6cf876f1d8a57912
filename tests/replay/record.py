"""Records histories of JobWorkflow from a real dev server: `python -m tests.replay.record`, once for each release.

They go to `histories/<version>/`; `test_replay.py` replays all of them on today's code.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.worker import Worker

from activities import HandlerError, JobContext, handler
from activities.contract import JOB_WORKFLOW, CatchUpPolicy, CatchUpRequest, JobRequest, RetryRequest
from activities.late.start import LateStartActivities
from schedules.console.terminal import leave
from tests.child_workflow import Child
from tests.replay.record_told import tell, told_folder
from tests.runs import request
from tests.servers import dev_server
from tests.step_calls import bench
from worker.app import SANDBOX
from worker.times import CALENDAR
from workflows.job import JobWorkflow

HISTORIES = Path(__file__).with_name("histories")
QUEUE = "tickwright"
SCHEDULED_AT = datetime(2027, 3, 1, 13, tzinfo=UTC)
LONG_PAST = datetime(2026, 3, 2, 13, tzinfo=UTC)
Run = WorkflowHandle[Any, Any]


class Recorder:
    """Starts occurrences as a schedule does, with a worker that comes and goes."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.began = asyncio.Event()
        self.patient = True

    async def start(self, what: JobRequest) -> Run:
        """One occurrence, with the schedule's marks on it; one that knows `catchup` is of a time long past."""
        scheduled_at = LONG_PAST if what.catchup else SCHEDULED_AT
        marks: list[SearchAttributePair[Any]] = [
            SearchAttributePair(SearchAttributeKey.for_datetime("TemporalScheduledStartTime"), scheduled_at),
            SearchAttributePair(SearchAttributeKey.for_keyword("TemporalScheduledById"), what.job),
        ]
        self.began.clear()
        return await self._client.start_workflow(
            JOB_WORKFLOW,
            what,
            id=f"{what.job}-{scheduled_at:%Y-%m-%dT%H:%M:%SZ}",
            task_queue=QUEUE,
            search_attributes=TypedSearchAttributes(marks),
        )

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        """A worker that drains at once when the block ends."""
        async with (
            bench(self._handlers()) as parts,
            Worker(
                self._client,
                task_queue=QUEUE,
                workflows=[JobWorkflow, Child],
                activities=[
                    *parts.activities.activities,
                    LateStartActivities(self._client, CALENDAR).decide_late_start,
                ],
                workflow_runner=SANDBOX,
                identity="worker",
                max_heartbeat_throttle_interval=timedelta(seconds=0.1),
            ),
        ):
            yield

    def _handlers(self) -> ModuleType:
        @handler("post")
        async def post() -> dict[str, int]:
            return {"posted": 3}

        @handler("fail")
        async def fail(context: JobContext) -> None:
            raise HandlerError(f"no answer to request {context.attempt}")

        @handler("wait")
        async def wait() -> None:
            self.began.set()
            while self.patient:  # noqa: ASYNC110 - what it waits for is a worker's end
                await asyncio.sleep(0.05)

        module = ModuleType("recorded")
        vars(module).update(post=post, fail=fail, wait=wait)
        return module


def step(name: str, **fields: Any) -> JobRequest:
    """A job whose step is that handler."""
    return request("python", {"handler": name}, heartbeat_timeout=1.0, **fields)


def child(*args: str, **fields: Any) -> JobRequest:
    return request("workflow", {"type": "Child", "args": list(args)}, **fields)


def several(*handlers: tuple[str, str], **fields: Any) -> JobRequest:
    """A job whose steps are such handlers: each with the one that takes it back, empty for none."""
    steps = []
    for number, (name, undo) in enumerate(handlers, 1):
        [made] = step(name).steps
        taken_back = replace(made, name=f"s{number}/undo", params={"handler": undo}) if undo else None
        steps.append(replace(made, name=f"s{number}", compensate=taken_back))
    return replace(step("post", **fields), steps=steps)


def needing(what: JobRequest, *needs: list[str]) -> JobRequest:
    """The job whose steps need these."""
    steps = [replace(each, needs=needed) for each, needed in zip(what.steps, needs, strict=True)]
    return replace(what, steps=steps)


def late(policy: CatchUpPolicy = "run_latest", **fields: Any) -> JobRequest:
    """A job on weekdays at eight, of which the run of a day long ago starts now."""
    rule = CatchUpRequest(policy, "skip", late_after=60.0, window=365 * 86_400.0, **fields)
    return replace(step("post"), catchup=rule, outcome_attribute=True)


TWICE = RetryRequest(max_attempts=2, initial=1.0)
SIMPLE = {
    "succeeded": step("post"),
    "retried-then-failed": step("fail", retry=TWICE),
    "timed-out": step("wait", timeout=0.5),
    "deadline": step("fail", retry=RetryRequest(max_attempts=9, backoff="fixed", initial=2.0), deadline=3.0),
    "steps": several(("post", "post"), ("post", ""), ("post", "")),
    "steps-side-by-side": needing(
        several(("post", ""), ("post", ""), ("fail", ""), ("post", "")), [], ["s1"], ["s1"], ["s2"]
    ),
    "compensated": several(("post", "post"), ("post", "post"), ("fail", "post")),
    "compensation-failed": several(("post", "post"), ("post", "fail"), ("fail", "")),
    "child": child("settle"),
    "child-with-templates": child("settle", "{scheduled_at:%F}", "{interval_start:%F}"),
    "child-failed": child("fail"),
    "child-timed-out": child("wait", timeout=1.0),
    "late-superseded": late(),
    "late-too-late": late(start_deadline=60.0),
    "late-skipped": late("skip"),
    "shadow": replace(step("post"), shadow=True, outcome_attribute=True),
}


async def plain(recorder: Recorder, what: JobRequest) -> Run:
    """A run that a worker carries to its end."""
    async with recorder.worker():
        run = await recorder.start(what)
        await ended(run)
    return run


async def cancelled(recorder: Recorder, what: JobRequest) -> Run:
    """A run that is cancelled in the middle of its step."""
    async with recorder.worker():
        run = await recorder.start(what)
        await recorder.began.wait()
        await run.cancel()
        await ended(run)
    return run


async def cut_short(recorder: Recorder, what: JobRequest) -> Run:
    """A run whose first worker stops in the middle of the step, and whose second one finishes it."""
    async with recorder.worker():
        run = await recorder.start(what)
        await recorder.began.wait()
    recorder.patient = False
    async with recorder.worker():
        await ended(run)
    recorder.patient = True
    return run


async def cancelled_then_cut_short(recorder: Recorder, what: JobRequest) -> Run:
    """A run that is cancelled, whose compensation is cut short by its worker's stop and done by the next one."""
    async with recorder.worker():
        run = await recorder.start(what)
        await recorder.began.wait()
        recorder.began.clear()
        await run.cancel()
        await recorder.began.wait()
    recorder.patient = False
    async with recorder.worker():
        await ended(run)
    recorder.patient = True
    return run


async def ended(run: Run) -> None:
    with suppress(WorkflowFailureError):
        await run.result()


async def record(folder: Path) -> None:
    """Writes one file a case."""
    cases: dict[str, tuple[Callable[[Recorder, JobRequest], Awaitable[Run]], JobRequest]] = {
        **{name: (plain, what) for name, what in SIMPLE.items()},
        "cancelled": (cancelled, step("wait")),
        "cut-short": (cut_short, step("wait")),
        "steps-cancelled": (cancelled, several(("post", "post"), ("wait", "post"), ("post", "post"))),
        "compensation-cut-short": (cancelled_then_cut_short, several(("post", "wait"), ("wait", ""))),
    }
    with dev_server() as server:
        recorder = Recorder(await Client.connect(server.address, identity="client"))
        for name, (carry_out, what) in cases.items():
            run = await carry_out(recorder, replace(what, job=name))
            await write(run, folder / f"{name}.json")
    await record_told(told_folder(folder))


async def record_told(folder: Path) -> None:
    """The same for what tells people; the folder is there."""
    with dev_server() as server:
        for name, run in (await tell(await Client.connect(server.address, identity="client"))).items():
            await write(run, folder / f"{name}.json")


async def write(run: Run, file: Path) -> None:
    """Writes the run's history."""
    plain_json = without_traces(json.loads((await run.fetch_history()).to_json()))
    text = json.dumps(plain_json, indent=1, sort_keys=True, ensure_ascii=False)
    with file.open("w", encoding="utf-8") as output:
        output.write(text + "\n")


def without_traces(value: Any) -> Any:
    """The history without stack traces, which name files of the machine."""
    if isinstance(value, list):
        return [without_traces(item) for item in value]
    if isinstance(value, dict):
        return {key: without_traces(item) for key, item in value.items() if key != "stackTrace"}
    return value


def main() -> None:
    """Records for the installed version."""
    folder = HISTORIES / ".".join(version("tickwright").split(".")[:2])
    told_folder(folder).mkdir(parents=True, exist_ok=True)
    asyncio.run(record(folder))
    leave(0)


if __name__ == "__main__":
    main()
