"""Records histories of what tells people: two runs and their incident, one that looks itself, a look of the watchdog and the notice that follows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import ModuleType

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleSpec,
    WorkflowHandle,
)
from temporalio.worker import Worker

from activities import HandlerError, handler
from activities.contract import JOB_WORKFLOW, TimesRequest
from activities.handlers.http import open_session
from activities.notices.contract import INCIDENT_PREFIX, WATCHDOG_WORKFLOW, AlertRequest, Target
from activities.notices.report import ReportActivities
from activities.notices.send import SendActivities
from activities.steps.secrets import SecretStore
from activities.watchdog.contract import WatchdogRequest, WatchedJob
from activities.watchdog.missed import WatchActivities
from tests.receiver import Receiver, receiver
from tests.runs import request
from tests.step_calls import bench
from worker.accounts import accounts_of
from worker.app import SANDBOX
from worker.own_workflows import OWN_WORKFLOWS
from worker.times import previous_occurrence
from workflows.job import JobWorkflow

QUEUE = "tickwright"
Handles = dict[str, WorkflowHandle[object, object]]


async def tell(client: Client) -> Handles:
    """By name of the case the workflows, all of them ended."""
    mended = asyncio.Event()
    async with receiver() as service, _worker(client, mended):
        target = Target("hook", url=f"{service.url}/hook")
        told = await _incident(client, service, target, mended) | await _watched(client, target)
        return told | await looked(client, service, target, mended)


async def _incident(client: Client, service: Receiver, target: Target, mended: asyncio.Event) -> Handles:
    alerts = AlertRequest(
        [target], remind_every=1.5, pause_after=2, retry_every=2.0, ping=f"{service.url}/ping", contact="billing"
    )
    what = replace(request("python", {"handler": "fail"}, job="told", heartbeat_timeout=1.0), alerts=alerts)
    await client.create_schedule("told", _schedule(JOB_WORKFLOW, what, timedelta(days=1), "told"))
    schedule = client.get_schedule_handle("told")
    await schedule.trigger()
    await service.until(lambda it: "reminder" in it.events(), "no reminder")
    await schedule.trigger()
    await service.until(lambda it: "paused" in it.events(), "no pause")
    mended.set()
    await service.until(lambda it: "recovery" in it.events(), "no recovery")
    incident: WorkflowHandle[object, object] = client.get_workflow_handle(INCIDENT_PREFIX + "told")
    await incident.result()
    runs = [each.action for each in (await schedule.describe()).info.recent_actions]
    ids = [getattr(action, "workflow_id", "") for action in runs]
    return {
        "incident": incident,
        "told-failed": client.get_workflow_handle(ids[0]),
        "told-succeeded": client.get_workflow_handle(ids[-1]),
    }


async def looked(client: Client, service: Receiver, target: Target, mended: asyncio.Event) -> Handles:
    """An incident that learns by its own look of the success that ends it: the run that failed was started by hand."""
    what = replace(
        request("python", {"handler": "fail"}, job="looked", heartbeat_timeout=1.0), alerts=AlertRequest([target])
    )
    await client.create_schedule("looked", _schedule(JOB_WORKFLOW, what, timedelta(days=1), "looked"))
    schedule, told = client.get_schedule_handle("looked"), len(service.events())
    mended.set()
    await schedule.trigger()
    await _until_succeeded(client, 1)
    mended.clear()
    await client.start_workflow(JOB_WORKFLOW, what, id="looked-2027-03-01T13:00:00Z", task_queue=QUEUE)
    await service.until(lambda it: "failure" in it.events()[told:], "no failure")
    mended.set()
    await schedule.trigger()
    incident: WorkflowHandle[object, object] = client.get_workflow_handle(INCIDENT_PREFIX + "looked")
    await incident.result()
    return {"incident-looked": incident}


async def _until_succeeded(client: Client, count: int) -> None:
    query = "TemporalScheduledById = 'looked' AND ExecutionStatus = 'Completed'"
    async with asyncio.timeout(60):
        while (await client.count_workflows(query)).count < count:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.2)


async def _watched(client: Client, target: Target) -> Handles:
    job = WatchedJob("nowhere", TimesRequest("UTC", intervals=[[1, 0]]), 5.0, 3600.0, [0])
    what = WatchdogRequest("billing", "production", [target], [job])
    await client.create_schedule("watchdog", _schedule(WATCHDOG_WORKFLOW, what, timedelta(seconds=1), "watchdog"))
    query = "WorkflowType = 'TickwrightNotice' AND ExecutionStatus = 'Completed'"
    async with asyncio.timeout(60):
        while not (found := [each async for each in client.list_workflows(query)]):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.2)
    await client.get_schedule_handle("watchdog").delete()
    [notice] = found
    return {
        "notice": client.get_workflow_handle(notice.id),
        "watchdog": client.get_workflow_handle(str(notice.parent_id)),
    }


def _schedule(workflow: str, what: object, every: timedelta, name: str) -> Schedule:
    action = ScheduleActionStartWorkflow(workflow, what, id=name, task_queue=QUEUE)
    return Schedule(action=action, spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every)]))


@asynccontextmanager
async def _worker(client: Client, mended: asyncio.Event) -> AsyncIterator[None]:
    @handler("fail")
    async def fail() -> None:
        if not mended.is_set():
            raise HandlerError("the ledger is away", details={"stdout": "asked\nno answer\n"})

    module = ModuleType("told")
    vars(module).update(fail=fail)
    async with bench(module) as parts, open_session() as session:
        send = SendActivities(SecretStore({}), lambda: session, client.namespace, "")
        watch = WatchActivities(client, previous_occurrence, accounts_of(client))
        own = [*send.activities, *ReportActivities(client).activities, watch.look_for_missed]
        async with Worker(
            client,
            task_queue=QUEUE,
            workflows=[JobWorkflow, *OWN_WORKFLOWS],
            activities=[*parts.activities.activities, *own],
            workflow_runner=SANDBOX,
            identity="worker",
        ):
            yield


def told_folder(folder: Path) -> Path:
    """Where the histories of a version stand that are not all of JobWorkflow."""
    return folder / "told"
