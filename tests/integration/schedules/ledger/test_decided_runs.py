"""Occurrences that late runs decided about, as the commands read them; a stand-in decides as the test wants it."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.contract import JOB_WORKFLOW, OUTCOME_ATTRIBUTE, JobRequest, JobResult, NotRun
from activities.occurrence import stamp
from schedules.ledger.explain import explain
from schedules.ledger.overview import overview
from tests.integration.scenes import SECOND, Scene, now, until

SCHEDULED = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
OUTCOME = SearchAttributeKey.for_keyword(OUTCOME_ATTRIBUTE)
REASON = "superseded by a newer occurrence"


@workflow.defn(name=JOB_WORKFLOW)
class Decides:
    """A job called `…-late` finds itself too late; another runs for five seconds and accounts for the two times after its own."""

    @workflow.run
    async def run(self, request: JobRequest) -> JobResult:
        at = workflow.info().typed_search_attributes[SCHEDULED]
        if request.job.endswith("-late"):
            workflow.upsert_search_attributes([OUTCOME.value_set("too_late")])
            return JobResult("too_late", stamp(at), 0.1, 0.1, 0, reason="too late by 5m")
        await workflow.sleep(timedelta(seconds=5))
        account = NotRun(2, stamp(at + 2 * SECOND), stamp(at + 4 * SECOND), REASON)
        return JobResult("succeeded", stamp(at), 0.1, 5.0, 1, not_run=account)


async def test_what_late_runs_decided_is_told_in_their_words(client: Client, name: str) -> None:
    async with (
        Worker(client, task_queue=name, workflows=[Decides], workflow_runner=UnsandboxedWorkflowRunner()),
        Scene(client, name) as scene,
    ):
        await scene.gateway.add_attributes([OUTCOME_ATTRIBUTE])
        await scene.add("late")
        await scene.add("busy")
        late, busy = await scene.ended("late"), await scene.ended("busy")
        await until(busy.scheduled_at + 7 * SECOND)

        async def told(short: str, at: datetime) -> tuple[str, str]:
            found = (await explain(scene.records, scene.id(short), stamp(at), now())).occurrence
            assert found
            return found.verdict, found.reason

        answers = await asyncio.gather(told("late", late.scheduled_at), told("busy", busy.scheduled_at + 2 * SECOND))
        jobs = await scene.records.jobs(f"{name}/test")
        at = now()
        found = await overview(scene.records, jobs, f"{name}/test", at - timedelta(hours=1), at, all_jobs=True)

    assert late.marked == "too_late"
    assert list(answers) == [("too_late", "too late by 5m"), ("superseded", REASON)]
    states = {state.name.removeprefix(f"{name}-"): state for state in found.states}
    assert (states["late"].state, states["late"].last_outcome, states["late"].failures) == ("ok", "too_late", 0)
    assert (states["late"].missed or 0) >= 2
    assert (states["busy"].skipped or 0) >= 2
