"""JobWorkflow as it must never become: it does something before what it did."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.contract import JOB_WORKFLOW, JobRequest, JobResult

from workflows.job import JobWorkflow


@workflow.defn(name=JOB_WORKFLOW)
class ChangedJobWorkflow:
    """Waits first."""

    @workflow.run
    async def run(self, request: JobRequest) -> JobResult:
        await workflow.sleep(timedelta(seconds=1))
        return await JobWorkflow().run(request)
