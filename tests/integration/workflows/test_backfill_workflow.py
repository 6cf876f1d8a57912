"""A request that is lost while other runs of the job go on, with time skipped."""

from __future__ import annotations

from datetime import timedelta

import pytest
from temporalio import activity
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.contract import (
    ASK_FOR_OCCURRENCE,
    BACKFILL_WORKFLOW,
    LOOK_AT_OCCURRENCE,
    REPEAT_MEMO,
    BackfillProgress,
    BackfillRequest,
    OccurrenceAsk,
    OccurrenceLook,
    OccurrenceSeen,
)
from tests.servers import TEST_SERVER
from workflows.backfill import BackfillWorkflow


async def test_what_is_lost_in_a_job_that_is_never_idle_is_asked_for_again(name: str) -> None:
    asked: list[int] = []
    looks = 0

    @activity.defn(name=LOOK_AT_OCCURRENCE)
    async def look(_: OccurrenceLook) -> OccurrenceSeen:
        nonlocal looks
        looks += 1
        if 1 in asked:
            return OccurrenceSeen(run_id="its own", outcome="succeeded")
        return OccurrenceSeen(running=f"run {looks}")

    @activity.defn(name=ASK_FOR_OCCURRENCE)
    async def ask(each: OccurrenceAsk) -> None:
        asked.append(each.number)

    async with (
        await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as time,
        Worker(time.client, task_queue=name, workflows=[BackfillWorkflow], activities=[look, ask]),
    ):
        request = BackfillRequest(name, f"{name}-", ["2027-03-01T08:00:00Z"])
        progress: BackfillProgress = await time.client.execute_workflow(
            BACKFILL_WORKFLOW,
            request,
            id=name,
            task_queue=name,
            result_type=BackfillProgress,
            execution_timeout=timedelta(minutes=10),
        )

    assert asked == [0, 1]
    assert progress.succeeded == 1


@pytest.mark.parametrize(("late_after", "is_queued"), [(60.0, True), (1e12, False), (None, False)])
async def test_a_repetition_is_queued_where_its_run_is_so_late_that_it_asks_what_it_is(
    late_after: float | None, name: str, *, is_queued: bool
) -> None:
    """Of a job that is idle after a hundred looks."""
    asked: list[str] = []
    looks = 0

    @activity.defn(name=LOOK_AT_OCCURRENCE)
    async def look(_: OccurrenceLook) -> OccurrenceSeen:
        nonlocal looks
        looks += 1
        if asked:
            return OccurrenceSeen(run_id="its own", outcome="succeeded")
        return OccurrenceSeen(running=f"run {looks}" if looks < 100 else "")

    @activity.defn(name=ASK_FOR_OCCURRENCE)
    async def ask(each: OccurrenceAsk) -> None:
        asked.append(each.rerun)

    async with (
        await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as time,
        Worker(time.client, task_queue=name, workflows=[BackfillWorkflow], activities=[look, ask]),
    ):
        request = BackfillRequest(name, f"{name}-", ["2026-03-01T08:00:00Z"], rerun="now", late_after=late_after)
        handle = await time.client.start_workflow(BACKFILL_WORKFLOW, request, id=name, task_queue=name)
        await handle.result()
        memo = await (await handle.describe()).memo()

    assert asked == ["" if is_queued else "now"]
    assert (looks < 10) == is_queued
    assert memo[REPEAT_MEMO] == {"rerun": "now", "params": {}}
