"""Builds that come up while an earlier one's `@reboot` jobs cannot be started, with time skipped."""

from __future__ import annotations

from temporalio import activity
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.contract import BUILDS_WORKFLOW, START_REBOOT_RUNS, NewBuild
from tests.servers import TEST_SERVER
from workflows.builds import BuildsWorkflow


async def test_a_build_whose_jobs_cannot_be_started_does_not_keep_the_next_ones_waiting(name: str) -> None:
    began: list[str] = []

    @activity.defn(name=START_REBOOT_RUNS)
    async def start(build: NewBuild) -> list[str]:
        began.append(build.build_id)
        if build.build_id == "one":
            raise RuntimeError("a job of it cannot be started")
        return []

    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as time:
        worker = Worker(time.client, task_queue=name, workflows=[BuildsWorkflow], activities=[start])
        async with worker:
            builds = await time.client.start_workflow(BUILDS_WORKFLOW, [], id=name, task_queue=name)
            await builds.signal("came_up", "one")
            await builds.signal("came_up", "two")
            while "two" not in began:
                await time.sleep(600)
            await builds.terminate()
    assert began.count("two") == 1
    assert began.count("one") > 10
